import { probabilitiesOf } from '../../core/metrics/index.ts';

/**
 * Predictions of one member for a split: one array `[N, W]` per output of the task. Each position of a sample (a step
 * of a sequence) is one of N.
 */
export interface Predictions {
  /** Projects receive probabilities where the run keeps logits. */
  kind: 'logits' | 'label-logits' | 'probabilities' | 'values';
  samples: number;
  width: number;
  values: Float32Array<ArrayBuffer>[];
  /** Predictions of the model's further outputs, by name. */
  further?: Readonly<Record<string, Predictions>>;
}

/**
 * Predictions of several members, stacked: one array `[M, N, W]` per output of the task, members in order of `ranks`.
 */
export interface MemberOutputs extends Predictions {
  ranks: number[];
}

/** Joins stacks of the same split into one stack, ordered by rank. */
export function joinStacks(stacks: readonly MemberOutputs[]): MemberOutputs {
  const rows = stacks.flatMap((stack) => stack.ranks.map((rank, index) => ({ rank, index, stack })));
  rows.sort((a, b) => a.rank - b.rank);
  const { kind, samples, width, values } = stacks[0];
  const size = samples * width;
  return {
    ...furtherOf(stacks[0], (name) =>
      joinStacks(stacks.flatMap(({ ranks, further }) => (further?.[name] ? { ...further[name], ranks } : []))),
    ),
    kind,
    ranks: rows.map(({ rank }) => rank),
    samples,
    width,
    values: values.map((_, output) =>
      concatenate(rows.map(({ index, stack }) => stack.values[output].subarray(index * size, (index + 1) * size))),
    ),
  };
}

/** Changes the predictions of all further outputs. */
export function furtherOf(
  { further }: Predictions,
  change: (name: string, own: Predictions) => Predictions,
): Pick<Predictions, 'further'> {
  if (further === undefined) return {};
  return { further: Object.fromEntries(Object.entries(further).map(([name, own]) => [name, change(name, own)])) };
}

/** A copy for projects: class probabilities in float32 where the run keeps logits, all else unchanged. */
export function copyForProject<P extends Predictions>(given: P): P {
  const predictions = { ...given, ...furtherOf(given, (_, own) => copyForProject(own)) };
  const { kind, width, values } = predictions;
  if (kind === 'label-logits') {
    return { ...predictions, kind: 'probabilities', values: values.map((output) => probabilitiesOf(output, 1)) };
  }
  if (kind !== 'logits') return { ...predictions, values: values.map((output) => output.slice()) };
  return { ...predictions, kind: 'probabilities', values: values.map((output) => probabilitiesOf(output, width)) };
}

/** Arrays one after the other, in a new array. */
export function concatenate(parts: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
