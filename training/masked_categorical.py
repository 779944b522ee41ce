"""The distribution over legal actions that logits and a mask give, by hand.

Logits of illegal actions count as minus infinity, 0 log 0 as 0. Written for speed: no array of logits is ever
branched over or holds an infinity (both cost more than the softmax itself on a processor), masks are int8, as the
engine writes them (torch turns them into numbers eight times as fast as bool), and what a gradient step needs, the
logarithm of one action's probability and the entropy, has its gradient written out.
"""

from typing import Any

import torch

_NEVER = 1e9
"""What is taken off the logits of illegal actions: e to the minus that is exactly 0."""


def legal_probabilities(logits: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the probabilities of all actions, float32 [n, actions], from logits and a mask int8 [n, actions]."""
    return _masked(logits, mask).softmax(dim=1)


def sample(probabilities: torch.Tensor, mask: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Return one legal action for each row of `legal_probabilities`, int64 [n], by inverting the distribution.

    One random number a row instead of one an action: drawing them would cost as much as the network.
    """
    # sums that were made in parallel may go down by a rounding error: a step there must not choose an illegal action
    cumulative = probabilities.cumsum(dim=1).mul_(mask)
    random = torch.rand(len(mask), 1, generator=generator, device=mask.device)
    return (cumulative > random * cumulative.amax(dim=1, keepdim=True)).byte().argmax(dim=1)


def log_probability_and_entropy(
    logits: torch.Tensor, mask: torch.Tensor, actions: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the logarithm of the probability of each row's action (int64 [n], legal), and each row's entropy.

    Both float32 [n]; gradients flow to the logits (float32 [n, actions]), those of illegal actions get exactly 0.
    """
    apply: Any = _LogProbabilityAndEntropy.apply
    logarithms, entropies = apply(logits, mask, actions)
    return logarithms, entropies


def _masked(logits: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    penalty = mask.float().sub_(1.0).mul_(_NEVER)
    return torch.add(logits, penalty, out=penalty)


class _LogProbabilityAndEntropy(torch.autograd.Function):
    """With p = softmax(x) over legal actions and z = log sum exp x: log p_a = x_a - z, entropy H = z - sum p x.

    d log p_a / d x_j = [j = a] - p_j and d H / d x_j = -p_j (x_j - z + H).
    """

    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor, mask: torch.Tensor, actions: torch.Tensor) -> tuple[Any, Any]:
        masked = _masked(logits, mask)
        probabilities = masked.softmax(dim=1)
        # the largest probability is never too small for its logarithm
        normaliser = masked.amax(dim=1) - probabilities.amax(dim=1).log()
        logarithms = logits.gather(1, actions[:, None])[:, 0] - normaliser
        entropies = normaliser - (probabilities * logits).sum(dim=1)
        ctx.save_for_backward(logits, probabilities, entropies - normaliser, actions)
        return logarithms, entropies

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        of_logarithm, of_entropy = gradients
        logits, probabilities, shift, actions = ctx.saved_tensors
        gradient = (logits + shift[:, None]).mul_(-of_entropy[:, None]).sub_(of_logarithm[:, None]).mul_(probabilities)
        gradient.scatter_add_(1, actions[:, None], of_logarithm[:, None])
        return gradient, None, None
