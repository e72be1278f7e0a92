import type { Tensor } from '../../core/ensemble/tensors.ts';

/** The samples of several requests as one: requests have the same tensors, apart from their first size. */
export function joinTensors(requests: readonly (readonly Tensor[])[]): Tensor[] {
  if (requests.length === 1) return [...requests[0]];
  return requests[0].map((first, i) => {
    const parts = requests.map((tensors) => tensors[i]);
    const samples = parts.reduce((sum, { shape }) => sum + shape[0], 0);
    return {
      ...first,
      shape: [samples, ...first.shape.slice(1)],
      values: joinValues(parts.map(({ values }) => values)),
    };
  });
}

/** The samples of each request, from the outputs for all. */
export function splitTensors(outputs: readonly Tensor[], counts: readonly number[]): Tensor[][] {
  if (counts.length === 1) return [[...outputs]];
  let first = 0;
  return counts.map((count) => {
    const from = first;
    first += count;
    return outputs.map((tensor) => {
      const size = tensor.values.length / tensor.shape[0];
      const shape = [count, ...tensor.shape.slice(1)];
      return { ...tensor, shape, values: tensor.values.slice(from * size, first * size) };
    });
  });
}

type Values = Tensor['values'];

function joinValues(parts: readonly Values[]): Values {
  const [first] = parts;
  if (Array.isArray(first)) return parts.flatMap((part) => part as readonly (string | null)[]);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const whole = new (first.constructor as new (length: number) => Float64Array)(length);
  let offset = 0;
  for (const part of parts as readonly Float64Array[]) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
