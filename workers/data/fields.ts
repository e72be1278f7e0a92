/**
 * What a sample may have besides one input and one target: further inputs and targets by name, a weight, a mask. Legend: N samples or
 * the B samples of a batch.
 */

/** Values of a named input or target. Bytes stand for themselves, and are not scaled. */
export interface Field {
  /** Shape of one sample; `[]` for a single number. */
  readonly shape: readonly number[];
  /** Values, shape `[N, ...shape]`. */
  readonly values: Float32Array | Int32Array | Uint8Array;
}

/** Fields by name. */
export type Fields = Readonly<Record<string, Field>>;

/** What samples may have besides one input and one target. */
export interface Extras {
  /** Further inputs by name. A model with several inputs takes them at its inputs of these names; `features` go to the other one. */
  readonly extraInputs?: Fields;
  /** Further targets by name, for the project's loss. */
  readonly extraTargets?: Fields;
  /** Weight of each sample in loss and metrics, at least 0; shape `[N]`. The sum of the weighted losses is divided by the number of samples. */
  readonly weights?: Float32Array;
  /** For each value of the targets 1 if it counts, 0 if it does not; shape of the targets. */
  readonly mask?: Uint8Array;
}

type Values = Field['values'];

/** Replaces the values of every field. No other function lists them, so that none is forgotten. */
export function mapExtras(of: Extras, change: <A extends Values>(values: A) => A): Extras {
  const { extraInputs, extraTargets, weights, mask } = of;
  const changed = (fields: Fields): Fields =>
    Object.fromEntries(
      Object.entries(fields).map(([name, { shape, values }]) => [name, { shape, values: change(values) }]),
    );
  return {
    ...(extraInputs && { extraInputs: changed(extraInputs) }),
    ...(extraTargets && { extraTargets: changed(extraTargets) }),
    ...(weights && { weights: change(weights) }),
    ...(mask && { mask: change(mask) }),
  };
}

/** All arrays of the fields, in the order of {@link mapExtras}. */
export function arraysOfExtras(of: Extras): Values[] {
  const arrays: Values[] = [];
  mapExtras(of, (values) => {
    arrays.push(values);
    return values;
  });
  return arrays;
}

/** Copies the samples at `indices` of `length`, in that order. */
export function gatherExtras(of: Extras, length: number, indices: Int32Array): Extras {
  return mapExtras(of, (values) => gatherRows(values, length, indices));
}

/** The samples from `start` to before `end` of `length`, without copying them. */
export function sliceExtras(of: Extras, length: number, start: number, end: number): Extras {
  return mapExtras(of, <A extends Values>(values: A) => {
    const width = values.length / length;
    return values.subarray(start * width, end * width) as A;
  });
}

/** Copies the rows at `indices` of an array of `length` rows. */
export function gatherRows<A extends Values>(values: A, length: number, indices: Int32Array): A {
  const width = values.length / length;
  const rows = new (values.constructor as new (size: number) => A)(indices.length * width);
  indices.forEach((index, row) => rows.set(values.subarray(index * width, (index + 1) * width), row * width));
  return rows;
}

/** @throws Error that names data set and field, the sizes found and the rule that they break */
export function checkExtras(name: string, length: number, targets: number, of: Extras): void {
  for (const [kind, fields] of [
    ['input', of.extraInputs],
    ['target', of.extraTargets],
  ] as const) {
    for (const [field, { shape, values }] of Object.entries(fields ?? {})) {
      const size = shape.reduce((product, dimension) => product * dimension, 1);
      if (Number.isInteger(size) && size > 0 && values.length === length * size) continue;
      throw new Error(
        `Data set "${name}": ${kind} "${field}" has ${values.length} values, which are not ${length} samples of shape ` +
          `[${shape.join(', ')}]. Give one sample of that shape for each sample of the data set.`,
      );
    }
  }
  checkWeights(name, length, of.weights);
  const { mask } = of;
  if (mask !== undefined && (mask.length !== targets || mask.some((value) => value > 1))) {
    throw new Error(
      `Data set "${name}": a mask of ${mask.length} values does not fit ${targets} targets. Give a Uint8Array with 1 for each ` +
        'value of the targets that counts, and 0 for each that does not.',
    );
  }
}

function checkWeights(name: string, length: number, weights?: Float32Array): void {
  if (weights === undefined) return;
  const wrong = weights.findIndex((weight) => !(Number.isFinite(weight) && weight >= 0));
  if (weights.length === length && wrong < 0) return;
  const found = wrong < 0 ? `${weights.length} weights for ${length} samples` : `sample ${wrong} has ${weights[wrong]}`;
  throw new Error(
    `Data set "${name}": the weights do not fit: ${found}. Give a finite weight of at least 0 for each sample.`,
  );
}

/** Describes the names and shapes of fields, for comparisons and messages. */
export function describeExtras({ extraInputs, extraTargets, weights, mask }: Extras): string {
  const fieldsOf = (kind: string, fields: Fields = {}) =>
    Object.entries(fields).map(([name, { shape }]) => `${kind} ${name} [${shape.join(', ')}]`);
  const all = [...fieldsOf('input', extraInputs), ...fieldsOf('target', extraTargets)];
  if (weights) all.push('weights');
  if (mask) all.push('a mask');
  return all.length === 0 ? 'no further fields' : all.join(', ');
}
