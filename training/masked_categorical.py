"""The categorical distribution over legal actions, from logits and a mask.

Logits of illegal actions count as minus infinity, and 0 log 0 as 0. Written for speed: logits are never branched on
and hold no infinity (on a CPU both cost more than the softmax itself), masks stay int8, as the engine writes them
(torch converts them to floats eight times as fast as bool), and log-probability and entropy have a manual gradient.
"""

from typing import Any

import torch

_PENALTY = 1e9
"""Subtracted from the logits of illegal actions: exp(-_PENALTY) is exactly 0."""


def legal_probabilities(logits: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the probabilities of all actions, float32 [n, actions], from logits and a mask int8 [n, actions]."""
    return _mask_logits(logits, mask).softmax(dim=1)


def sample(probabilities: torch.Tensor, mask: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Sample one legal action for each row of `legal_probabilities`, int64 [n], by inverting the distribution.

    This draws one random number a row; one for each action would cost as much as the network.
    """
    # parallel sums can decrease by a rounding error, which must not select an illegal action
    cumulative = probabilities.cumsum(dim=1).mul_(mask)
    random = torch.rand(len(mask), 1, generator=generator, device=mask.device)
    return (cumulative > random * cumulative.amax(dim=1, keepdim=True)).byte().argmax(dim=1)


def log_probability_and_entropy(
    logits: torch.Tensor, mask: torch.Tensor, actions: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the log-probability of the legal action of each row, int64 [n], and the entropy of each row.

    Both float32 [n]; gradients flow to the logits (float32 [n, actions]), those of illegal actions get exactly 0.
    """
    apply: Any = _LogProbabilityAndEntropy.apply
    log_probs, entropies = apply(logits, mask, actions)
    return log_probs, entropies


def _mask_logits(logits: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    penalty = mask.float().sub_(1.0).mul_(_PENALTY)
    return torch.add(logits, penalty, out=penalty)


class _LogProbabilityAndEntropy(torch.autograd.Function):
    """With p = softmax(x) over legal actions and z = log sum exp x: log p_a = x_a - z, entropy H = z - sum p x.

    d log p_a / d x_j = [j = a] - p_j and d H / d x_j = -p_j (x_j - z + H).
    """

    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor, mask: torch.Tensor, actions: torch.Tensor) -> tuple[Any, Any]:
        masked = _mask_logits(logits, mask)
        probabilities = masked.softmax(dim=1)
        # the largest probability is never too small for its logarithm
        normaliser = masked.amax(dim=1) - probabilities.amax(dim=1).log()
        log_probs = logits.gather(1, actions[:, None])[:, 0] - normaliser
        entropies = normaliser - (probabilities * logits).sum(dim=1)
        ctx.save_for_backward(logits, probabilities, entropies - normaliser, actions)
        return log_probs, entropies

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        log_prob_gradient, entropy_gradient = gradients
        logits, probabilities, shift, actions = ctx.saved_tensors
        gradient = (
            (logits + shift[:, None])
            .mul_(-entropy_gradient[:, None])
            .sub_(log_prob_gradient[:, None])
            .mul_(probabilities)
        )
        gradient.scatter_add_(1, actions[:, None], log_prob_gradient[:, None])
        return gradient, None, None
