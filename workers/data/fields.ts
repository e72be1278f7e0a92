/**
 * What a sample may have besides one input and one target: further inputs and targets by name, weights, a mask, and
 * what it must not be separated from. Legend: N samples or the B samples of a batch.
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
  /**
   * Further inputs by name. A model with several inputs takes them at its inputs of these names; `features` go to the
   * other one.
   */
  readonly extraInputs?: Fields;
  /** Further targets by name, for the project's loss. */
  readonly extraTargets?: Fields;
  /**
   * Weight of each sample in loss and metrics, at least 0; shape `[N]`. The sum of the weighted losses is divided by
   * the number of samples.
   */
  readonly weights?: Float32Array;
  /** For each value of the targets 1 if it counts, 0 if it does not; shape of the targets. */
  readonly mask?: Uint8Array;
}

/** What samples of a data set have for the loss alone, and for whoever divides them; batches leave it out. */
export interface SampleExtras extends Extras {
  /**
   * Weights in the loss in place of `weights`, such as those times weights of classes: metrics do not use them; shape
   * `[N]`.
   */
  readonly lossWeights?: Float32Array;
  /** The group of each sample, by number: samples of a group lie in one split, fold or hold-out; shape `[N]`. */
  readonly groups?: Int32Array;
  /**
   * The stratum of each sample, by number: splits, folds and hold-outs have all strata in the same proportions; shape
   * `[N]`.
   */
  readonly strata?: Int32Array;
  /**
   * Where samples are windows of a series: the first step that each covers, and the one after its last; shape `[N, 2]`.
   * None trains on a step that it is judged on.
   */
  readonly spans?: Int32Array;
}

type Values = Field['values'];

/** Replaces the values of every field. No other function lists them, so that none is forgotten. */
export function mapExtras(of: SampleExtras, change: <A extends Values>(values: A) => A): SampleExtras {
  const { extraInputs, extraTargets, weights, mask, lossWeights, groups, strata, spans } = of;
  const changed = (fields: Fields): Fields =>
    Object.fromEntries(
      Object.entries(fields).map(([name, { shape, values }]) => [name, { shape, values: change(values) }]),
    );
  return {
    ...(extraInputs && { extraInputs: changed(extraInputs) }),
    ...(extraTargets && { extraTargets: changed(extraTargets) }),
    ...(weights && { weights: change(weights) }),
    ...(mask && { mask: change(mask) }),
    ...(lossWeights && { lossWeights: change(lossWeights) }),
    ...(groups && { groups: change(groups) }),
    ...(strata && { strata: change(strata) }),
    ...(spans && { spans: change(spans) }),
  };
}

/** All arrays of the fields, in the order of {@link mapExtras}. */
export function arraysOfExtras(of: SampleExtras): Values[] {
  const arrays: Values[] = [];
  mapExtras(of, (values) => {
    arrays.push(values);
    return values;
  });
  return arrays;
}

/** Copies the samples at `indices` of `length`, in that order. */
export function gatherExtras(of: SampleExtras, length: number, indices: Int32Array): SampleExtras {
  return mapExtras(of, (values) => gatherRows(values, length, indices));
}

/** The same for a batch: with the weights of the loss, and without what only divides samples. */
export function gatherForBatch(of: SampleExtras, length: number, indices: Int32Array): Extras {
  const { extraInputs, extraTargets, weights, mask, lossWeights = weights } = of;
  return gatherExtras({ extraInputs, extraTargets, weights: lossWeights, mask }, length, indices);
}

/** The samples from `start` to before `end` of `length`, without copying them. */
export function sliceExtras(of: SampleExtras, length: number, start: number, end: number): SampleExtras {
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
export function checkExtras(name: string, length: number, targets: number, of: SampleExtras): void {
  for (const [kind, fields] of [
    ['input', of.extraInputs],
    ['target', of.extraTargets],
  ] as const) {
    for (const [field, { shape, values }] of Object.entries(fields ?? {})) {
      const size = shape.reduce((product, dimension) => product * dimension, 1);
      if (Number.isInteger(size) && size > 0 && values.length === length * size) continue;
      throw new Error(
        `Data set "${name}": ${kind} "${field}" has ${values.length} values, which are not ${length} samples of ` +
          `shape [${shape.join(', ')}]. Give one sample of that shape for each sample of the data set.`,
      );
    }
  }
  for (const kind of ['weights', 'lossWeights'] as const) checkWeights(name, kind, length, of[kind]);
  checkDivision(name, length, of);
  const { mask } = of;
  if (mask !== undefined && (mask.length !== targets || mask.some((value) => value > 1))) {
    throw new Error(
      `Data set "${name}": a mask of ${mask.length} values does not fit ${targets} targets. Give a Uint8Array with ` +
        '1 for each value of the targets that counts, and 0 for each that does not.',
    );
  }
}

function checkWeights(name: string, kind: string, length: number, weights?: Float32Array): void {
  if (weights === undefined) return;
  const wrong = weights.findIndex((weight) => !(Number.isFinite(weight) && weight >= 0));
  if (weights.length === length && wrong < 0) return;
  const found = wrong < 0 ? `${weights.length} weights for ${length} samples` : `sample ${wrong} has ${weights[wrong]}`;
  throw new Error(
    `Data set "${name}": the ${kind} do not fit: ${found}. Give a finite weight of at least 0 for each sample.`,
  );
}

function checkDivision(name: string, length: number, { groups, strata, spans }: SampleExtras): void {
  for (const [kind, numbers, each] of [
    ['groups', groups, 1],
    ['strata', strata, 1],
    ['spans', spans, 2],
  ] as const) {
    if (numbers === undefined || numbers.length === each * length) continue;
    throw new Error(
      `Data set "${name}": ${numbers.length} ${kind} do not fit ${length} samples. Give ` +
        `${each === 1 ? 'a number' : 'two numbers'} for each.`,
    );
  }
  const empty = spans === undefined ? -1 : spans.findIndex((first, i) => i % 2 === 0 && spans[i + 1] <= first);
  if (empty < 0) return;
  throw new Error(
    `Data set "${name}": the span of sample ${empty / 2} ends at step ${spans?.[empty + 1]}, but begins at ` +
      `${spans?.[empty]}. Give the first step, and the one after the last.`,
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
