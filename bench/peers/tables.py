"""The peers of `bench/tables/compare.ts`: `tables.py make <folder> <uci>`, `tables.py fit <folder>`.

`make` writes tables.json and <table>/<seed>/{train,test}.csv: a fifth of the rows tests. `fit` trains the peers on each training
table, reads what Tutti predicted from <table>/<seed>/tutti.csv, and prints one JSON object with the measures of each.
"""

import csv
import json
import math
import pathlib
import sys
import time
import warnings

import numpy as np
import torch
from sklearn import datasets
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from torch import nn
from torch.nn import functional as F

SEEDS = range(5)
MEMBERS = 5
torch.set_num_threads(1)
warnings.filterwarnings("ignore", category=UserWarning)


def uci(folder, name):
    rows = np.loadtxt(pathlib.Path(folder) / f"{name}.txt")
    return rows[:, :-1].astype(object), rows[:, -1], True


def mixed(seed=0):
    """Numbers, two columns of categories that quantiles cut, and cells without a value (5 %)."""
    x, y = datasets.make_classification(
        2000, 10, n_informative=6, n_redundant=2, n_classes=3, n_clusters_per_class=2, flip_y=0.05, random_state=seed
    )
    generator = np.random.default_rng(seed)
    cells = x.round(5).astype(object)
    for column, count in ((0, 6), (1, 12)):
        edges = np.quantile(x[:, column], np.arange(1, count) / count)
        letters = [chr(ord("a") + i) for i in generator.permutation(count)]
        cells[:, column] = [letters[i] for i in np.digitize(x[:, column], edges)]
    cells[generator.random(cells.shape) < 0.05] = None
    return cells, y, False


def tables(folder):
    found = {f"UCI {name}": uci(folder, name) for name in ("yacht", "energy", "concrete", "wine")}
    x, y = datasets.make_friedman1(2000, 10, noise=1, random_state=0)
    found["Friedman 1"] = x.astype(object), y, True
    x, y = datasets.load_breast_cancer(return_X_y=True)
    found["breast cancer"] = x.astype(object), y, False
    x, y = datasets.make_classification(
        3000, 20, n_informative=8, n_redundant=4, n_classes=4, flip_y=0.05, random_state=0
    )
    found["clusters"] = x.astype(object), y, False
    found["mixed columns"] = mixed()
    return found


def make(folder, data):
    listed = []
    for name, (x, y, is_regression) in tables(data).items():
        listed.append({"name": name, "rows": len(y), "columns": x.shape[1], "isRegression": is_regression})
        for seed in SEEDS:
            parts = train_test_split(x, y, test_size=0.2, random_state=seed, stratify=None if is_regression else y)
            own = pathlib.Path(folder) / name.replace(" ", "-") / str(seed)
            own.mkdir(parents=True)
            for part, cells, targets in (("train", parts[0], parts[2]), ("test", parts[1], parts[3])):
                with open(own / f"{part}.csv", "w", newline="") as file:
                    writer = csv.writer(file)
                    writer.writerow([f"x{i}" for i in range(x.shape[1])] + ["y"])
                    for row, target in zip(cells, targets):
                        shown = ["" if cell is None else cell for cell in row]
                        writer.writerow(shown + [target if is_regression else f"class {target}"])
    (pathlib.Path(folder) / "tables.json").write_text(json.dumps(listed))


def read(path, is_regression):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))[1:]
    columns = []
    for cells in zip(*(row[:-1] for row in rows)):
        is_text = any(cell.isalpha() for cell in cells)
        columns.append([(None if is_text else np.nan) if cell == "" else cell if is_text else float(cell) for cell in cells])
    y = [float(row[-1]) if is_regression else int(row[-1].split()[-1]) for row in rows]
    texts = [i for i, column in enumerate(columns) if any(isinstance(cell, str) for cell in column)]
    return np.array(columns, dtype=object).T, np.array(y), texts


def features(x, texts):
    """Numbers by mean and deviation, categories one-hot, an indicator for each column with a missing value."""
    numbers = [i for i in range(x.shape[1]) if i not in texts]
    one_hot = make_pipeline(
        SimpleImputer(missing_values=None, strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    )
    scaled = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    return make_column_transformer((scaled, numbers), (one_hot, texts))


class Network(nn.Module):
    """The network of the project that `tutti create --from` writes."""

    def __init__(self, inputs, outputs, width=64, dropout=0.1):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, width), nn.ReLU(), nn.Dropout(dropout),
            nn.Linear(width, width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(width, outputs),
        )  # fmt: skip
        for layer in self.layers:
            if isinstance(layer, nn.Linear):
                nn.init.xavier_uniform_(layer.weight)
                nn.init.zeros_(layer.bias)

    def forward(self, x):
        return self.layers(x)


def combine(outputs, is_regression):
    """[M, N, K] to probabilities [N, K], or to mean and variance of the mixture [N, 2]."""
    if not is_regression:
        return torch.softmax(outputs, -1).mean(0)
    mean, variance = outputs[..., 0], F.softplus(outputs[..., 1]) + 0.001
    whole = mean.mean(0)
    return torch.stack([whole, (variance + mean**2).mean(0) - whole**2], -1)


def nll_of(answer, y, is_regression):
    if is_regression:
        mean, variance = answer[:, 0], answer[:, 1]
        return 0.5 * (np.log(2 * np.pi * variance) + (y - mean) ** 2 / variance).mean()
    return -np.log(np.clip(answer[np.arange(len(y)), y.astype(int)], 1e-7, 1)).mean()


def deep_ensemble(x, y, x_test, texts, seed, is_regression):
    """Members one after the other, each with its own draws, which stop together at the lowest NLL of the ensemble."""
    torch.manual_seed(seed)
    own, held, y_own, y_held = train_test_split(x, y, test_size=0.2, random_state=seed, stratify=None if is_regression else y)
    transform = features(own, texts).fit(own)
    tensors = [torch.tensor(transform.transform(part), dtype=torch.float32) for part in (own, held, x_test)]
    mean, deviation = (y_own.mean(), y_own.std()) if is_regression else (0, 1)
    targets = torch.tensor((y_own - mean) / deviation, dtype=torch.float32 if is_regression else torch.long)
    outputs = 2 if is_regression else int(y.max()) + 1
    nets = [Network(tensors[0].shape[1], outputs) for _ in range(MEMBERS)]
    optimizers = [torch.optim.AdamW(net.parameters(), lr=0.002, weight_decay=0.01) for net in nets]
    rows = len(targets)
    batch = next((size for size in (16, 32, 64, 128, 256) if size >= rows / 100), 512)
    lowest, waited, kept = math.inf, 0, None
    for _ in range(200):
        for net, optimizer in zip(nets, optimizers):
            net.train()
            order = torch.randperm(rows)
            for first in range(0, rows, batch):
                chosen = order[first : first + batch]
                out = net(tensors[0][chosen])
                if is_regression:
                    loss = F.gaussian_nll_loss(out[:, 0], targets[chosen], F.softplus(out[:, 1]) + 0.001)
                else:
                    loss = F.cross_entropy(out, targets[chosen])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            net.eval()
        with torch.no_grad():
            answer = combine(torch.stack([net(tensors[1]) for net in nets]), is_regression).numpy()
        nll = nll_of(answer, (y_held - mean) / deviation, is_regression)
        if nll < lowest:
            lowest, waited = nll, 0
            kept = [{name: value.clone() for name, value in net.state_dict().items()} for net in nets]
        else:
            waited += 1
            if waited == 15:
                break
    for net, state in zip(nets, kept):
        net.load_state_dict(state)
    with torch.no_grad():
        answer = combine(torch.stack([net(tensors[2]) for net in nets]), is_regression).numpy().astype(float)
    return answer * [deviation, deviation**2] + [mean, 0] if is_regression else answer


def forest(x, y, x_test, texts, seed, is_regression):
    """500 trees. Variance of a regression: that of the errors on rows that a tree did not see."""
    transform = features(x, texts).fit(x)
    kind = RandomForestRegressor if is_regression else RandomForestClassifier
    model = kind(500, random_state=seed, oob_score=True).fit(transform.transform(x), y)
    if not is_regression:
        return model.predict_proba(transform.transform(x_test))
    mean = model.predict(transform.transform(x_test))
    return np.stack([mean, np.full_like(mean, ((model.oob_prediction_ - y) ** 2).mean())], -1)


def boosting(x, y, x_test, texts, seed, is_regression):
    """Stops early on a fifth of the rows. Variance of a regression: that of the errors on this fifth."""
    coded = x.copy()
    coded_test = x_test.copy()
    for i in texts:
        names = sorted({cell for cell in x[:, i] if cell is not None})
        for part in (coded, coded_test):
            part[:, i] = [names.index(cell) if cell in names else np.nan for cell in part[:, i]]
    options = {"random_state": seed, "early_stopping": True, "categorical_features": texts or None}
    own, held, y_own, y_held = train_test_split(
        coded.astype(float), y, test_size=0.2, random_state=seed, stratify=None if is_regression else y
    )
    if not is_regression:
        model = HistGradientBoostingClassifier(**options, validation_fraction=0.2).fit(coded.astype(float), y)
        return model.predict_proba(coded_test.astype(float))
    model = HistGradientBoostingRegressor(**options).fit(own, y_own, X_val=held, y_val=y_held)
    mean = model.predict(coded_test.astype(float))
    return np.stack([mean, np.full_like(mean, ((model.predict(held) - y_held) ** 2).mean())], -1)


def ece(answer, y, is_regression):
    """15 bins of the highest probability; of a regression the mean difference of coverage and level (10 % to 90 %)."""
    if is_regression:
        scores = np.array([0.5 * (1 + math.erf(z / math.sqrt(2))) for z in (y - answer[:, 0]) / np.sqrt(answer[:, 1])])
        levels = np.arange(1, 10) / 10
        return float(np.mean([abs((abs(2 * scores - 1) <= level).mean() - level) for level in levels]))
    top, right = answer.max(1), answer.argmax(1) == y
    bins = np.clip((top * 15).astype(int), 0, 14)
    return float(sum(abs(top[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in set(bins)))


def measures(answer, y, is_regression):
    score = math.sqrt(((answer[:, 0] - y) ** 2).mean()) if is_regression else float((answer.argmax(1) == y).mean())
    return {"nll": float(nll_of(answer, y, is_regression)), "score": score, "ece": ece(answer, y, is_regression)}


def from_tutti(path, is_regression):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    if is_regression:
        return np.array([[float(row["mean"]), float(row["standard_deviation"]) ** 2] for row in rows])
    names = sorted(name for name in rows[0] if name.startswith("probability_class "))
    return np.array([[float(row[name]) for name in names] for row in rows])


def fit(folder):
    """One line for each method: measures, and the seconds that it trained and predicted."""
    is_regression = json.loads((pathlib.Path(folder) / "task.json").read_text())["isRegression"]
    seed = int(pathlib.Path(folder).name)
    x, y, texts = read(pathlib.Path(folder) / "train.csv", is_regression)
    x_test, y_test, _ = read(pathlib.Path(folder) / "test.csv", is_regression)
    found = {
        name: measures(from_tutti(pathlib.Path(folder) / f"{name}.csv", is_regression), y_test, is_regression)
        for name in ("tutti", "calibrated")
    }
    for name, method in (("forest", forest), ("boosting", boosting), ("pytorch", deep_ensemble)):
        started = time.perf_counter()
        answer = method(x, y, x_test, texts, seed, is_regression)
        found[name] = {**measures(answer, y_test, is_regression), "seconds": time.perf_counter() - started}
    print(json.dumps(found))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], sys.argv[3])
    else:
        fit(sys.argv[2])
