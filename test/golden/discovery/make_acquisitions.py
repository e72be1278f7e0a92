"""Records acquisition functions and batches of drawn ensembles, in float64: python3 make_acquisitions.py"""

import json
from pathlib import Path

import numpy as np
import torch
from botorch.acquisition import analytic
from botorch.models.model import Model
from botorch.posteriors.gpytorch import GPyTorchPosterior
from gpytorch.distributions import MultivariateNormal
from sklearn.cluster import KMeans

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(15)


class Given(Model):
    """A posterior with given moments: X holds the index of a candidate."""

    num_outputs = 1

    def __init__(self, mean, deviation):
        super().__init__()
        self.mean, self.deviation = torch.tensor(mean), torch.tensor(deviation)

    def posterior(self, X, **_):
        index = X[..., 0].long()
        mean, variance = self.mean[index], self.deviation[index] ** 2
        return GPyTorchPosterior(MultivariateNormal(mean, torch.diag_embed(variance)))


def drawn(members, candidates):
    values = rng.normal(size=(members, candidates)) * rng.uniform(0.01, 2, candidates) + rng.normal(size=candidates)
    mean, deviation = values.mean(0), values.std(0)
    model, X = Given(mean, deviation), torch.arange(candidates).double().reshape(-1, 1, 1)
    best, xi, kappa = float(rng.normal()), 0.0, float(rng.uniform(0, 3))
    return values, {
        "values": values.ravel().tolist(),
        "members": members,
        "best": best,
        "kappa": kappa,
        "mean": mean.tolist(),
        "deviation": deviation.tolist(),
        "ei": analytic.ExpectedImprovement(model, best)(X).tolist(),
        "pi": analytic.ProbabilityOfImprovement(model, best)(X).tolist(),
        "ucb": analytic.UpperConfidenceBound(model, kappa**2)(X).tolist(),
    }


def fantasies(values, noise, count, kappa):
    """The batch by UCB with the whole covariance matrix, conditioned on each choice as on an observation of its mean."""
    mean = values.mean(0)
    centred = values - mean
    covariance = centred.T @ centred / len(values)
    chosen, deviations = [], []
    for _ in range(count):
        deviation = np.sqrt(np.maximum(np.diag(covariance), 0))
        deviations.append(deviation.tolist())
        scores = mean + kappa * deviation
        scores[chosen] = -np.inf
        i = int(np.argmax(scores))
        chosen.append(i)
        covariance = covariance - np.outer(covariance[i], covariance[i]) / (covariance[i, i] + noise[i])
    return {"kappa": kappa, "noise": noise.tolist(), "chosen": chosen, "deviations": deviations}


def information(members, candidates, classes):
    logits = rng.normal(size=(members, candidates, classes)) * 2
    probabilities = torch.softmax(torch.tensor(logits), -1)
    entropy = torch.distributions.Categorical(probs=probabilities.mean(0)).entropy()
    own = torch.distributions.Categorical(probs=probabilities).entropy().mean(0)
    return {
        "shape": [members, candidates, classes],
        "logits": logits.ravel().tolist(),
        "entropy": entropy.tolist(),
        "information": (entropy - own).tolist(),
    }


def centres(features, count):
    chosen, distance = [0], ((features - features[0]) ** 2).sum(1)
    while len(chosen) < count:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, ((features - features[chosen[-1]]) ** 2).sum(1))
    return chosen


def clusters(features, count):
    start = features[:count]
    fitted = KMeans(count, init=start, n_init=1, max_iter=50, tol=0, algorithm="lloyd").fit(features)
    return fitted.labels_.tolist()


cases = []
for members, candidates in [(2, 3), (4, 50), (8, 200)]:
    values, case = drawn(members, candidates)
    case["fantasies"] = fantasies(values, rng.uniform(0.01, 0.5, candidates), min(12, candidates), 1.5)
    cases.append(case)
features = np.float32(rng.normal(size=(120, 5)) + 4 * rng.integers(0, 3, (120, 1))).astype(float)
recorded = {
    "cases": cases,
    "information": [information(2, 5, 2), information(5, 30, 4)],
    "features": {"width": 5, "values": features.ravel().tolist(), "centres": centres(features, 15), "clusters": clusters(features, 9)},
}
Path(__file__).with_name("acquisitions.json").write_text(json.dumps(recorded) + "\n")
