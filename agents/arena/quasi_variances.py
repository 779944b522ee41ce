"""Quasi-variances: one error per agent from which the error of every difference follows.

A rating has no error of its own, only a difference has: against an anchor, the anchor's error is 0 and whatever is
uncertain about the anchor is in all the others'. Quasi-variances q_i make q_i + q_j the variance of every
difference as nearly as possible (Firth and de Menezes 2004, "Quasi-variances", Biometrika 91).
"""

import numpy as np

# holds an error down to which nothing is lost by making it 0, as in a star around one agent, at a positive value
_RIDGE = 1e-10
_MOST_STEPS = 1000
# a step that promises to lower the loss by less is the last
_NEGLIGIBLE = 1e-10


def quasi_standard_errors(covariance: np.ndarray) -> np.ndarray:
    """Return the quasi standard errors, float64 [k], of estimates with a covariance, float64 [k, k], all positive.

    They minimise the sum over pairs of the squared log ratio of (q_i + q_j) to the variance of the difference, by
    Newton's method in log q with damping. Two share the variance equally; one alone has 0.
    """
    number = len(covariance)
    if number == 1:
        return np.zeros(1)
    apart = ~np.eye(number, dtype=bool)
    own = np.diag(covariance)
    log_variances = np.log(np.where(apart, own[:, None] + own - 2 * covariance, 1.0))
    start = np.where(apart, log_variances, np.inf).min(axis=1) - np.log(2)

    def misses(logs: np.ndarray) -> np.ndarray:
        return np.where(apart, np.logaddexp(logs[:, None], logs) - log_variances, 0.0)

    def loss(logs: np.ndarray) -> float:
        # every pair stands twice in the matrix
        return float((misses(logs) ** 2).sum() / 2 + _RIDGE * ((logs - start) ** 2).sum())

    logs, damping = start, 1e-3
    for _ in range(_MOST_STEPS):
        fractions = np.where(apart, 1 / (1 + np.exp(logs - logs[:, None])), 0.0)
        missed = misses(logs)
        gradient = (fractions * missed).sum(axis=1) + _RIDGE * (logs - start)
        # the second derivatives, less those that would make them indefinite
        mixed = fractions * fractions.T
        bent = mixed * np.maximum(missed, 0.0)
        curvature = mixed - bent + np.diag((fractions**2 + bent).sum(axis=1) + _RIDGE + damping)
        step = np.linalg.solve(curvature, -gradient)
        if -gradient @ step < _NEGLIGIBLE:
            return np.exp((logs + step) / 2)
        if loss(logs + step) < loss(logs):
            logs, damping = logs + step, damping / 10
        else:
            damping *= 10
    return np.exp(logs / 2)
