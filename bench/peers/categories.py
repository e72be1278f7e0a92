"""One-hot or embeddings for columns of many categories: `categories.py [rows...]`, which prints a table in Markdown.

The ensemble is that of `tables.py` (five networks of 2 x 64 units, dropout 0.1, AdamW, early stopping on the NLL of the
ensemble), with all members in one batched product. Tables are drawn here: two columns of 60 and 400 categories, of
which some are frequent and most are rare, and four numbers. Half of the tables have additive effects; in the others the
category decides how the numbers count.
"""

import math
import sys

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn import functional as F

from tables import MEMBERS, SEEDS, combine, measures

COUNTS = (60, 400)
NUMBERS = 4
WIDTH, DROPOUT = 64, 0.1
torch.set_num_threads(1)


def table(rows, interacts, is_regression):
    """Numbers [N, 4], categories [N, 2] and the targets [N]."""
    generator = np.random.default_rng(7)
    x = generator.normal(size=(rows, NUMBERS))
    codes = np.stack([generator.choice(n, rows, p=zipf(n)) for n in COUNTS], -1)
    signal = np.sin(x[:, 0]) + 0.5 * x[:, 1]
    for i, n in enumerate(COUNTS):
        if interacts:
            directions = generator.normal(size=(n, 2)) @ generator.normal(size=(2, NUMBERS)) / 2
            signal = signal + (directions[codes[:, i]] * x).sum(-1)
        else:
            signal = signal + generator.normal(size=n)[codes[:, i]]
    noise = generator.normal(size=rows)
    if is_regression:
        return x, codes, signal + 0.5 * noise
    return x, codes, np.digitize(signal + 0.5 * noise, np.quantile(signal, (1 / 3, 2 / 3)))


def zipf(count):
    weights = 1 / np.arange(1, count + 1) ** 0.7
    return weights / weights.sum()


def embedding_width(count):
    """As `embeddingWidth` in core/preprocessing/schema.ts."""
    return min(50, round(1.6 * count**0.56))


class Stacked(nn.Module):
    """The members' networks in one product: numbers [M, B, 4] and codes [M, B, 2] give [M, B, K]."""

    def __init__(self, outputs, way):
        super().__init__()
        self.way = way
        widths = {"one-hot": COUNTS, "embeddings": [embedding_width(n) for n in COUNTS], "left out": []}[way]
        if way == "embeddings":
            # Keras and TensorFlow.js draw embeddings uniformly from -0.05 to 0.05.
            self.tables = nn.ParameterList(
                nn.Parameter(torch.empty(MEMBERS, n, width).uniform_(-0.05, 0.05)) for n, width in zip(COUNTS, widths)
            )
        sizes = [NUMBERS + sum(widths), WIDTH, WIDTH, outputs]
        self.weights = nn.ParameterList()
        for fan_in, fan_out in zip(sizes, sizes[1:]):
            limit = math.sqrt(6 / (fan_in + fan_out))
            self.weights.append(nn.Parameter(torch.empty(MEMBERS, fan_in, fan_out).uniform_(-limit, limit)))
        self.biases = nn.ParameterList(nn.Parameter(torch.zeros(MEMBERS, 1, size)) for size in sizes[1:])

    def forward(self, x, codes):
        for i, count in enumerate(COUNTS if self.way != "left out" else []):
            if self.way == "one-hot":
                # Codes beyond the categories of the training rows do not occur among them: their weights stay drawn.
                own = F.one_hot(codes[..., i], count).float() * self.known[i][codes[..., i]].unsqueeze(-1)
            else:
                own = self.tables[i][torch.arange(MEMBERS)[:, None], codes[..., i]]
                own = own * self.known[i][codes[..., i]].unsqueeze(-1)
            x = torch.cat([x, own], -1)
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases)):
            x = torch.baddbmm(bias, x, weight)
            if i < 2:
                x = F.dropout(F.relu(x), DROPOUT, self.training)
        return x


def ensemble(way, train, test, seed, is_regression):
    torch.manual_seed(seed)
    x, codes, y = train
    strata = None if is_regression else y
    own, held = train_test_split(np.arange(len(y)), test_size=0.2, random_state=seed, stratify=strata)
    mean, deviation = (y[own].mean(), y[own].std()) if is_regression else (0, 1)
    center, scale = x[own].mean(0), x[own].std(0)
    inputs = [
        (torch.tensor((a - center) / scale, dtype=torch.float32), torch.tensor(c))
        for a, c in ((x[own], codes[own]), (x[held], codes[held]), test[:2])
    ]
    targets = torch.tensor((y[own] - mean) / deviation, dtype=torch.float32 if is_regression else torch.long)
    net = Stacked(2 if is_regression else int(y.max()) + 1, way)
    # A category that the training split lacks gives zeros.
    net.known = [torch.zeros(n).index_fill(0, inputs[0][1][:, i].unique(), 1) for i, n in enumerate(COUNTS)]
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.002, weight_decay=0.01)
    rows = len(targets)
    batch = next((size for size in (16, 32, 64, 128, 256) if size >= rows / 100), 512)

    def answer(part):
        net.eval()
        with torch.no_grad():
            return combine(net(*(own.expand(MEMBERS, *own.shape) for own in part)), is_regression).numpy()

    lowest, waited, kept, epochs = math.inf, 0, None, 0
    for epochs in range(1, 201):
        net.train()
        order = torch.stack([torch.randperm(rows) for _ in range(MEMBERS)])
        for first in range(0, rows, batch):
            chosen = order[:, first : first + batch]
            out = net(inputs[0][0][chosen], inputs[0][1][chosen])
            if is_regression:
                loss = F.gaussian_nll_loss(out[..., 0], targets[chosen], F.softplus(out[..., 1]) + 0.001)
            else:
                loss = F.cross_entropy(out.flatten(0, 1), targets[chosen].flatten())
            optimizer.zero_grad()
            # Each member has the gradient of its own mean.
            (loss * MEMBERS).backward()
            optimizer.step()
        nll = measures(answer(inputs[1]), (y[held] - mean) / deviation, is_regression)["nll"]
        if nll < lowest:
            lowest, waited = nll, 0
            kept = {name: value.clone() for name, value in net.state_dict().items()}
        else:
            waited += 1
            if waited == 15:
                break
    net.load_state_dict(kept)
    found = answer(inputs[2]).astype(float)
    if is_regression:
        found = found * [deviation, deviation**2] + [mean, 0]
    return measures(found, test[2], is_regression)["nll"]


def compare(rows, interacts, is_regression):
    kind = "in products with numbers" if interacts else "additive"
    x, codes, y = table(rows, interacts, is_regression)
    for way in ("left out", "one-hot", "embeddings"):
        nlls = []
        for seed in SEEDS:
            strata = None if is_regression else y
            own, held = train_test_split(np.arange(rows), test_size=0.2, random_state=seed, stratify=strata)
            nlls.append(ensemble(way, (x[own], codes[own], y[own]), (x[held], codes[held], y[held]), seed, is_regression))
        error = np.std(nlls, ddof=1) / math.sqrt(len(nlls))
        task = "values" if is_regression else "3 classes"
        print(f"| {rows} rows, {task}, {kind} | {way} | {np.mean(nlls):.3f} ± {error:.3f} |", flush=True)


if __name__ == "__main__":
    for rows in (int(own) for own in sys.argv[1:] or ("2000", "10000")):
        for interacts in (False, True):
            for is_regression in (True, False):
                compare(rows, interacts, is_regression)
