"""Records metrics with sample weights by scikit-learn, PyTorch and NumPy as weighted-metrics.json beside this file.

Weights are multiples of 1/8, some of them 0; predictions are multiples of 1/64, which float32 and decimals hold exactly. Where scikit-learn has a
score, `sample_weight` gives the expected value; the others are their formulas in NumPy. All is computed in float64.
"""

import json
import pathlib
import warnings

import numpy as np
import sklearn
import torch
from scipy.special import gammaln, softmax
from scipy.stats import norm
from sklearn import metrics

warnings.filterwarnings("ignore")
random = np.random.default_rng(2029)
BINS = 15


def in_steps(values, steps=64):
    return np.round(np.asarray(values, dtype=np.float64) * steps) / steps


def weights_of(shape):
    weights = in_steps(random.uniform(0.125, 3, shape), 8)
    weights[random.uniform(size=shape) < 0.2] = 0
    return weights


def mean(values, w):
    return float(np.average(values, weights=w))


def nll(p, y, w):
    return float(torch.nn.functional.cross_entropy(torch.tensor(np.log(p)), torch.tensor(y), reduction="none").numpy() @ w / w.sum())


def binned(confidence, hit, w):
    bins = np.clip(np.ceil(confidence * BINS) - 1, 0, BINS - 1)
    return sum(abs((w * (hit - confidence))[bins == b].sum()) for b in np.unique(bins)) / w.sum()


def macro(score, p, y, w):
    classes = [1] if p.shape[1] == 2 else range(p.shape[1])
    return float(np.mean([score(y == k, p[:, k], sample_weight=w) for k in classes]))


def class_scores(p, y, w, ordered):
    chosen, classes = p.argmax(axis=1), range(p.shape[1])
    found = {
        "nll": nll(p, y, w),
        "acc": metrics.accuracy_score(y, chosen, sample_weight=w),
        "ece": binned(p.max(axis=1), chosen == y, w),
        "brier": mean(((p - np.eye(p.shape[1])[y]) ** 2).sum(axis=1), w),
        "auroc": macro(metrics.roc_auc_score, p, y, w),
        "ap": macro(metrics.average_precision_score, p, y, w),
        "f1": metrics.f1_score(y, chosen, average="macro", sample_weight=w),
        "classwise_ece": float(np.mean([binned(p[:, k], y == k, w) for k in classes])),
    }
    if p.shape[1] > 2:
        found["top2_acc"] = metrics.top_k_accuracy_score(y, p, k=2, labels=classes, sample_weight=w)
    if ordered:
        found["mae"] = metrics.mean_absolute_error(y, chosen, sample_weight=w)
        found["kappa"] = metrics.cohen_kappa_score(y, chosen, weights="quadratic", sample_weight=w)
    return {name: float(value) for name, value in found.items()}


def entropy(p):
    return -(p * np.log(p)).sum(axis=-1)


def named(ensemble, members, of_ensemble):
    own = {f"member_{m}_{name}": value for m, scores in enumerate(members) for name, value in scores.items()}
    return {**{f"ens_{name}": value for name, value in ensemble.items()}, **own, **of_ensemble}


def counted(w):
    return w > 0


def classification(members, samples, classes, scale, ordered=False):
    logits = in_steps(random.normal(0, scale, (members, samples, classes)))
    # scikit-learn counts the last of equally probable classes first, Tutti the first: no ties here.
    for member, sample in np.ndindex(members, samples):
        while len(np.unique(logits[member, sample])) < classes:
            logits[member, sample] = in_steps(random.normal(0, scale, classes))
    y, w = random.integers(0, classes, samples), weights_of(samples)
    # Samples of weight 0 do not count: what remains has all classes.
    kept = counted(w)
    assert len(np.unique(y[kept])) == classes
    p = softmax(logits, axis=2)
    scores = [class_scores(row[kept], y[kept], w[kept], ordered) for row in p]
    chosen = p.argmax(axis=2)
    mixed = p.mean(axis=0)
    pairs = [(i, j) for i in range(members) for j in range(i)]
    ensemble = class_scores(mixed[kept], y[kept], w[kept], ordered)
    average = float(np.mean([score["nll"] for score in scores]))
    return {
        "kind": "ordinal" if ordered else "classification",
        "shape": [members, samples, classes],
        "outputs": [logits.flatten().tolist()],
        "targets": y.tolist(),
        "weights": w.tolist(),
        "found": named(
            ensemble,
            scores,
            {
                "avg_member_nll": average,
                "ambiguity": average - ensemble["nll"],
                "disagreement": float(np.mean([mean(chosen[i] != chosen[j], w) for i, j in pairs])),
                "not_unanimous": mean((chosen != chosen[0]).any(axis=0), w),
                "predictive_entropy": mean(entropy(mixed), w),
                "mutual_information": mean(entropy(mixed) - entropy(p).mean(axis=0), w),
            },
        ),
    }


def label_scores(p, y, w):
    """w [N, L]: a sample's weight, 0 where a label is masked."""
    chosen = (p > 0.5).astype(int)
    own = np.where(y == 1, p, 1 - p)
    columns = range(p.shape[1])
    of_samples = w.max(axis=1)
    right = ((chosen == y) | (w == 0)).all(axis=1)
    flat = counted(w)

    def each(score, predictions):
        return [score(y[w[:, c] > 0, c], predictions[w[:, c] > 0, c], sample_weight=w[w[:, c] > 0, c]) for c in columns]

    return {
        "nll": mean(-np.log(own), w),
        "acc": metrics.accuracy_score(y[flat], chosen[flat], sample_weight=w[flat]),
        "exact_match": mean(right, of_samples),
        "f1": float(np.mean(each(metrics.f1_score, chosen))),
        "f1_micro": metrics.f1_score(y[flat], chosen[flat], sample_weight=w[flat]),
        "brier": mean((p - y) ** 2, w),
        "auroc": float(np.mean(each(metrics.roc_auc_score, p))),
        "ap": float(np.mean(each(metrics.average_precision_score, p))),
    }


def label_table(p, y, w):
    def row(c):
        kept = w[:, c] > 0
        of_label, own, weights = y[kept, c], p[kept, c], w[kept, c]
        return {
            "samples": float((weights * of_label).sum()),
            "auroc": metrics.roc_auc_score(of_label, own, sample_weight=weights),
            "ap": metrics.average_precision_score(of_label, own, sample_weight=weights),
            "f1": metrics.f1_score(of_label, own > 0.5, sample_weight=weights),
        }

    return [row(c) for c in range(p.shape[1])]


def labels(members, samples, count):
    logits = in_steps(random.normal(0, 2, (members, samples, count)))
    y = random.integers(0, 2, (samples, count))
    w = weights_of(samples)[:, None] * (random.uniform(size=(samples, count)) < 0.8)
    p = 1 / (1 + np.exp(-logits))
    scores = [label_scores(row, y, w) for row in p]
    ensemble = label_scores(p.mean(axis=0), y, w)
    average = float(np.mean([score["nll"] for score in scores]))
    chosen = p > 0.5
    pairs = [(i, j) for i in range(members) for j in range(i)]
    of_ensemble = {
        "avg_member_nll": average,
        "ambiguity": average - ensemble["nll"],
        "disagreement": float(np.mean([mean(chosen[i] != chosen[j], w) for i, j in pairs])),
    }
    return {
        "kind": "multi-label",
        "labels": label_table(p.mean(axis=0), y, w),
        "shape": [members, samples, count],
        "outputs": [logits.flatten().tolist()],
        "targets": y.flatten().tolist(),
        "weights": w.flatten().tolist(),
        "found": {name: float(value) for name, value in named(ensemble, scores, of_ensemble).items()},
    }


def value_scores(prediction, y, w, columns):
    grid = [array.reshape(-1, columns) for array in (y, prediction, w)]
    r2 = [metrics.r2_score(t[v > 0], q[v > 0], sample_weight=v[v > 0]) for t, q, v in zip(*[g.T for g in grid])]
    return {
        "mse": metrics.mean_squared_error(y, prediction, sample_weight=w),
        "mae": metrics.mean_absolute_error(y, prediction, sample_weight=w),
        "r2": float(np.mean(r2)),
    }


def crps_of_mixture(means, variances, y):
    def absolute(center, variance):
        deviation = np.sqrt(variance)
        return center * (2 * norm.cdf(center / deviation) - 1) + 2 * deviation * norm.pdf(center / deviation)

    to_target = absolute(y - means, variances).mean(axis=0)
    between = absolute(means[:, None] - means[None], variances[:, None] + variances[None]).mean(axis=(0, 1))
    return to_target - between / 2


def gaussian_scores(means, variances, y, w, columns):
    densities = norm.pdf(y, means, np.sqrt(variances)).mean(axis=0)
    at_target = norm.cdf(y, means, np.sqrt(variances)).mean(axis=0)
    return {
        **value_scores(means.mean(axis=0), y, w, columns),
        "nll": mean(-np.log(densities), w),
        "crps": mean(crps_of_mixture(means, variances, y), w),
        "coverage_90": mean(abs(at_target - 0.5) <= 0.45, w),
    }


def regression(members, samples, columns):
    size = samples * columns
    means, variances = in_steps(random.normal(0, 2, (members, size))), in_steps(random.uniform(0.05, 4, (members, size)))
    y, w = in_steps(random.normal(0, 2, size)), weights_of(size)
    scores = [gaussian_scores(means[m : m + 1], variances[m : m + 1], y, w, columns) for m in range(members)]
    ensemble = gaussian_scores(means, variances, y, w, columns)
    average = {name: float(np.mean([score[name] for score in scores])) for name in ("mse", "nll")}
    of_ensemble = {
        "avg_member_mse": average["mse"],
        "ensemble_gain": average["mse"] - ensemble["mse"],
        "ens_std": mean(means.std(axis=0, ddof=1), w),
        "avg_member_nll": average["nll"],
        "ambiguity": average["nll"] - ensemble["nll"],
        "aleatoric_variance": mean(variances.mean(axis=0), w),
        "epistemic_variance": mean(means.var(axis=0), w),
    }
    return {
        "kind": "heteroscedastic-regression",
        "shape": [members, samples, columns],
        "outputs": [means.flatten().tolist(), variances.flatten().tolist()],
        "targets": y.tolist(),
        "weights": w.tolist(),
        "found": {name: float(value) for name, value in named(ensemble, scores, of_ensemble).items()},
    }


def count_scores(rates, y, w):
    likelihood = np.exp(y * np.log(rates) - rates - gammaln(y + 1)).mean(axis=0)
    return {
        "nll": mean(-np.log(likelihood), w),
        "deviance": metrics.mean_poisson_deviance(y[w > 0], rates.mean(axis=0)[w > 0], sample_weight=w[w > 0]),
    }


def counts(members, samples):
    rates = in_steps(random.uniform(0.1, 8, (members, samples)))
    y, w = random.poisson(3, samples), weights_of(samples)
    scores = [count_scores(rates[m : m + 1], y, w) for m in range(members)]
    ensemble = count_scores(rates, y, w)
    average = float(np.mean([score["nll"] for score in scores]))
    return {
        "kind": "poisson-regression",
        "shape": [members, samples, 1],
        "outputs": [rates.flatten().tolist()],
        "targets": y.tolist(),
        "weights": w.tolist(),
        "found": {
            name: float(value)
            for name, value in named(ensemble, scores, {"avg_member_nll": average, "ambiguity": average - ensemble["nll"]}).items()
        },
    }


def quantile_scores(q, y, w, levels):
    losses = [metrics.mean_pinball_loss(y, q[:, i], alpha=level, sample_weight=w) for i, level in enumerate(levels)]
    return {
        "pinball": float(np.mean(losses)),
        "interval_coverage": mean((q[:, 0] <= y) & (y <= q[:, -1]), w),
        "mae": metrics.mean_absolute_error(y, q[:, 1], sample_weight=w),
    }


def quantiles(members, samples):
    levels = [0.125, 0.5, 0.875]
    q = np.sort(in_steps(random.normal(0, 2, (members, samples, 3))), axis=2)
    y, w = in_steps(random.normal(0, 2, samples)), weights_of(samples)
    scores = [quantile_scores(row, y, w, levels) for row in q]
    ensemble = quantile_scores(q.mean(axis=0), y, w, levels)
    average = float(np.mean([score["pinball"] for score in scores]))
    of_ensemble = {"avg_member_pinball": average, "ensemble_gain": average - ensemble["pinball"]}
    return {
        "kind": "quantile-regression",
        "shape": [members, samples, 3],
        "outputs": [q.flatten().tolist()],
        "levels": levels,
        "targets": y.tolist(),
        "weights": w.tolist(),
        "found": {name: float(value) for name, value in named(ensemble, scores, of_ensemble).items()},
    }


cases = [
    classification(2, 30, 2, 1),
    classification(3, 40, 4, 2),
    classification(2, 40, 3, 1, ordered=True),
    labels(3, 30, 3),
    regression(3, 12, 1),
    regression(2, 10, 3),
    counts(3, 20),
    quantiles(2, 20),
]
versions = {"scikit-learn": sklearn.__version__, "torch": torch.__version__, "numpy": np.__version__}
body = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
path = pathlib.Path(__file__).with_name("weighted-metrics.json")
path.write_text(f'{{"versions": {json.dumps(versions)},\n"cases": [\n{body}\n]}}\n')
