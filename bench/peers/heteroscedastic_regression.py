"""Example 00 as a PyTorch program: `heteroscedastic_regression.py <members> <plot.png>`.

Each member is a process with a mean and a variance network, trained for 10 000 steps on 20 points of x sin(x) with noise that grows with x;
the variance is fixed during the first half. The first process draws mean and uncertainty of all members' predictions.
"""

import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
from torch import nn

STEPS = 10_000
FIXED_VARIANCE = 0.002


class MeanAndVariance(nn.Module):
    def __init__(self, hidden_units=50):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(1, hidden_units), nn.Sigmoid(), nn.Linear(hidden_units, 1))
        self.variance = nn.Sequential(
            nn.Linear(1, hidden_units), nn.Sigmoid(), nn.Linear(hidden_units, 1), nn.Softplus()
        )

    def forward(self, x):
        return self.mean(x), self.variance(x)


def make_data():
    torch.manual_seed(42)
    x = torch.rand(20, 1) * 10
    y = x * torch.sin(x) + 0.3 * torch.randn(20, 1) + 0.3 * x * torch.randn(20, 1)
    grid = torch.linspace(-4, 14, 500).reshape(-1, 1)
    return x, y, grid


def train(x, y):
    model = MeanAndVariance()
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for step in range(STEPS):
        optimizer.zero_grad()
        mean, variance = model(x)
        if step < STEPS / 2:
            variance = torch.full_like(variance, FIXED_VARIANCE)
        loss = (torch.log(variance) + (y - mean) ** 2 / variance).mean()
        loss.backward()
        optimizer.step()
    return model


def gather(tensor, members):
    if members == 1:
        return tensor[None]
    gathered = [torch.empty_like(tensor) for _ in range(members)]
    dist.all_gather(gathered, tensor)
    return torch.stack(gathered)


def draw(x, y, grid, means, variances, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    mean = means.mean(0)
    deviation = (variances.mean(0) + means.var(0, unbiased=False)).sqrt()
    figure, axes = pyplot.subplots(2, 1, figsize=(8, 8))
    axes[0].plot(grid, grid * torch.sin(grid))
    axes[0].plot(x, y, "o")
    axes[0].plot(grid, mean)
    axes[0].fill_between(grid[:, 0], (mean - 1.96 * deviation)[:, 0], (mean + 1.96 * deviation)[:, 0], alpha=0.3)
    axes[1].plot(grid, variances.mean(0), label="aleatoric")
    axes[1].plot(grid, means.var(0, unbiased=False), label="epistemic")
    axes[1].legend()
    figure.savefig(path)


def member(rank, members, address, path):
    torch.set_num_threads(1)
    if members > 1:
        dist.init_process_group("gloo", init_method=address, rank=rank, world_size=members)
    x, y, grid = make_data()
    torch.manual_seed(42 + rank)
    model = train(x, y)
    with torch.no_grad():
        mean, variance = model(grid)
    means, variances = gather(mean, members), gather(variance, members)
    if rank == 0:
        draw(x, y, grid, means, variances, path)


def main():
    members, path = int(sys.argv[1]), sys.argv[2]
    if members == 1:
        member(0, 1, None, path)
    else:
        processes.spawn(member, (members, f"file://{path}.rendezvous", path), nprocs=members)


if __name__ == "__main__":
    main()
