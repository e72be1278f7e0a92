/**
 * The functions and classes of Python that exported models use, by name. A file defines only those that it needs.
 * Values have the channels last between layers, as in TensorFlow.js; PyTorch's own layers take them first.
 */
export const library: Readonly<Record<string, string>> = {
  hard_sigmoid: `def hard_sigmoid(x):
    return (0.2 * x + 0.5).clamp(0, 1)`,

  channels_first: `def channels_first(x):
    # A copy: of one channel, oneDNN takes moved axes for another memory format, and computes wrong values (torch 2.15).
    return x.movedim(-1, 1).clone(memory_format=torch.contiguous_format)`,

  channels_last: `def channels_last(x):
    return x.movedim(1, -1)`,

  pad_same: `def pad_same(x, kernel, stride, dilation, value=0.0):
    """Pads the axes after the channels for ceil(size / stride) windows. Of an odd number, the larger half comes behind."""
    pads = []
    for size, k, s, d in zip(reversed(x.shape[2:]), reversed(kernel), reversed(stride), reversed(dilation)):
        total = max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
        pads += [total // 2, total - total // 2]
    return F.pad(x, pads, value=value)`,

  average_pool_same: `def average_pool_same(pool, x, kernel, stride):
    """Averages that leave out the padding."""
    ones = (1,) * len(kernel)
    sums = pool(pad_same(x, kernel, stride, ones), kernel, stride)
    return sums / pool(pad_same(torch.ones_like(x), kernel, stride, ones), kernel, stride)`,

  cut: `def cut(x, starts, sizes):
    """Sizes from the starts along the axes after the channels."""
    for axis, (start, size) in enumerate(zip(starts, sizes)):
        x = x.narrow(axis + 2, start, size)
    return x`,

  upsample_linear: `def upsample_linear(x, size, axis):
    """Values in between along an axis: output i lies at i / size, and those after the last value repeat it."""
    following = torch.cat([x.narrow(axis, 1, x.shape[axis] - 1), x.narrow(axis, -1, 1)], axis).unsqueeze(axis + 1)
    share = (torch.arange(size, dtype=x.dtype, device=x.device) / size).reshape(-1, *[1] * (x.ndim - axis - 1))
    x = x.unsqueeze(axis + 1)
    return (x + share * (following - x)).flatten(axis, axis + 1)`,

  isotonic: `def isotonic(probabilities, maps):
    """Maps each class's probability linearly between points, the first and the last value outside, and divides by their sum."""
    mapped = []
    for p, (first, starts, lengths, rises) in zip(probabilities.unbind(-1), maps):
        passed = (p.unsqueeze(-1) - p.new_tensor(starts)) / p.new_tensor(lengths)
        mapped.append(first + (passed.clamp(0, 1) * p.new_tensor(rises)).sum(-1))
    mapped = torch.stack(mapped, -1)
    total = mapped.sum(-1, keepdim=True)
    # Equal probabilities where all are 0.
    return torch.where(total == 0, 1 / len(maps), mapped / total)`,

  Recurrent: `class Recurrent(nn.Module):
    """LSTM (gates i f c o), GRU (gates z r h, with the reset before the product) or a simple recurrence over [N, T, F]."""

    def __init__(self, kind, features, units, bias, activation, recurrent_activation, backward):
        super().__init__()
        gates = {"LSTM": 4, "GRU": 3, "SimpleRNN": 1}[kind]
        self.kind, self.units, self.backward = kind, units, backward
        self.activation, self.recurrent_activation = activation, recurrent_activation
        self.kernel = nn.Parameter(torch.empty(features, gates * units))
        self.recurrent_kernel = nn.Parameter(torch.empty(units, gates * units))
        self.bias = nn.Parameter(torch.empty(gates * units)) if bias else None

    def step(self, x, states):
        h = states[0]
        act, gate = self.activation, self.recurrent_activation
        if self.kind == "SimpleRNN":
            return [act(x + h @ self.recurrent_kernel)]
        if self.kind == "LSTM":
            i, f, c, o = (x + h @ self.recurrent_kernel).chunk(4, -1)
            cell = gate(f) * states[1] + gate(i) * act(c)
            return [gate(o) * act(cell), cell]
        xz, xr, xh = x.chunk(3, -1)
        kz, kr, kh = self.recurrent_kernel.chunk(3, -1)
        z, r = gate(xz + h @ kz), gate(xr + h @ kr)
        return [z * h + (1 - z) * act(xh + (r * h) @ kh)]

    def forward(self, x, mask=None, states=None):
        """Returns the outputs in the order of the steps, [N, T, units], and the last states. A masked step keeps them."""
        projected = x @ self.kernel
        if self.bias is not None:
            projected = projected + self.bias
        if states is None:
            zeros = x.new_zeros(x.shape[0], self.units)
            states = [zeros] * (2 if self.kind == "LSTM" else 1)
        outputs = [None] * x.shape[1]
        for t in reversed(range(x.shape[1])) if self.backward else range(x.shape[1]):
            following = self.step(projected[:, t], states)
            if mask is not None:
                keep = mask[:, t, None].bool()
                following = [torch.where(keep, new, old) for new, old in zip(following, states)]
            states = following
            outputs[t] = states[0]
        return torch.stack(outputs, 1), states`,
};

/** What each definition needs itself. */
const needs: Readonly<Record<string, readonly string[]>> = { average_pool_same: ['pad_same'] };

/** The definitions of these names, and of those that they need, in the order of the library. */
export function definitionsOf(names: ReadonlySet<string>): string {
  const all = new Set([...names].flatMap((name) => [name, ...(needs[name] ?? [])]));
  return Object.entries(library)
    .filter(([name]) => all.has(name))
    .map(([, code]) => `${code}\n`)
    .join('\n\n');
}
