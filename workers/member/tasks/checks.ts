import { type Dataset, valuesPerTarget } from '../../data/dataset.ts';
import type { LayersModel } from '../../tensorflow/tf.ts';
import type { Task } from './task.ts';

/** T, targets of a sample, or of each of its positions. */
export function targetColumns(dataset: Dataset): number {
  const { targetShape = [] } = dataset;
  return targetShape.length >= 2 ? targetShape[targetShape.length - 1] : valuesPerTarget(dataset);
}

/** A target in words: `Target 3 of train`; of several of a sample by its name, `Target red of sample 1 of train`. */
export function targetText(dataset: Dataset, index: number): string {
  const { name, classNames } = dataset;
  const columns = targetColumns(dataset);
  if (columns === 1) return `Target ${index} of ${name}`;
  const column = index % columns;
  return `Target ${classNames?.[column] ?? column} of sample ${Math.floor(index / valuesPerTarget(dataset))} of ${name}`;
}

/**
 * @param positions P @throws Error with both shapes unless the model's outputs are `[B, ...P, width]` each; a size of a
 * position that the model leaves open fits every size
 */
export function requireOutputs(
  model: LayersModel,
  widths: number[],
  expected: string,
  positions: readonly number[],
): void {
  const shapes = model.outputs.map((output) => output.shape.slice(1));
  const fitsAt = (shape: (number | null)[], width: number): boolean =>
    shape.length === positions.length + 1 &&
    shape.at(-1) === width &&
    positions.every((size, axis) => shape[axis] === null || shape[axis] === size);
  if (shapes.length === widths.length && shapes.every((shape, i) => fitsAt(shape, widths[i]))) return;
  const found = shapes.map((shape) => `[${['B', ...shape.map((size) => size ?? 'any')].join(', ')}]`).join(' and ');
  const each =
    positions.length === 0
      ? ''
      : ' at each position of a ' +
        `sample, ${widths.map((width) => `[B, ${[...positions, width].join(', ')}]`).join(' and ')}`;
  throw new Error(
    `The model's output has shape ${found}, but the task needs ${expected}${each}. Change the model's last layer.`,
  );
}

/** @throws Error where targets are labels */
export function requireValues(dataset: Dataset): void {
  if (!(dataset.targets instanceof Float32Array)) {
    throw new Error(`Targets of ${dataset.name} are class labels: a regression task needs a Float32Array of values.`);
  }
}

/** K. @throws Error where the data set names no number of classes, or one */
export function classCount(dataset: Dataset): number {
  if (dataset.classCount === undefined) {
    const remedy =
      dataset.targets instanceof Float32Array
        ? "its targets are numbers. Choose the task regression, or targetKind: 'classes' where each distinct " +
          'number is a class.'
        : 'set its classCount.';
    throw new Error(`Data set ${dataset.name} has no class count, which the task needs: ${remedy}`);
  }
  requireSeveralClasses(dataset);
  return dataset.classCount;
}

function requireSeveralClasses({ name, classCount: count, classNames }: Dataset): void {
  if (count !== 1) return;
  const named = classNames === undefined ? '' : `, ${JSON.stringify(classNames[0])}`;
  throw new Error(
    `${name} has one class${named}: there is nothing to tell apart, and every model would have a loss of 0. ` +
      'Add samples of a second class.',
  );
}

/**
 * Names of the classes of which a data set has no sample that counts; `[]` where its targets are not in memory, or no
 * classes.
 */
function classesWithoutSamples(dataset: Dataset, classes = dataset.classCount): string[] {
  const { targets, stream, classNames } = dataset;
  if (classes === undefined || stream !== undefined || !(targets instanceof Int32Array)) return [];
  const weights = targetWeights(dataset);
  const found = new Set(weights === undefined ? targets : targets.filter((_, i) => weights[i] > 0));
  const all = Array.from({ length: classes }, (_, label) => label);
  return all.filter((label) => !found.has(label)).map((label) => classNames?.[label] ?? String(label));
}

/** Numbers of the targets, of several, of which a data set has no value that counts. */
function targetsWithoutValues(dataset: Dataset): number[] {
  const weights = dataset.stream === undefined ? targetWeights(dataset) : undefined;
  const columns = targetColumns(dataset);
  if (weights === undefined || columns === 1) return [];
  const all = Array.from({ length: columns }, (_, column) => column);
  return all.filter((column) => weights.every((weight, i) => i % columns !== column || weight === 0));
}

/**
 * A sentence that names classes without samples, or targets without values; null where there are none.
 * @param use what the samples are for
 * @param targets names of several targets; their numbers by default
 */
export function noteOnAbsent(
  dataset: Dataset,
  task: Task['kind'],
  use: string,
  targets: readonly string[] = [],
): string | null {
  const haveClasses = ['classification', 'binary', 'ordinal'].includes(task);
  const absent = haveClasses
    ? classesWithoutSamples(dataset, task === 'binary' ? 2 : dataset.classCount)
    : targetsWithoutValues(dataset).map((column) => targets[column] ?? dataset.classNames?.[column] ?? String(column));
  if (absent.length === 0) return null;
  const names = absent.slice(0, 10).join(', ') + (absent.length > 10 ? ', ...' : '');
  const [sought, one, several] = haveClasses ? ['sample', 'class', 'classes'] : ['value', 'target', 'targets'];
  return (
    `"${dataset.name}" has no ${sought} of ${absent.length === 1 ? `the ${one}` : `${absent.length} ${several}:`} ` +
    `${names}. ${use}`
  );
}

/** @throws Error unless targets are labels from 0 to `classes` - 1 */
export function requireLabels(dataset: Dataset, classes: number): void {
  requireSeveralClasses(dataset);
  if (!(dataset.targets instanceof Int32Array)) {
    throw new Error(
      `Targets of ${dataset.name} are not class labels: a classification task needs an Int32Array of labels.`,
    );
  }
  const wrong = dataset.targets.findIndex((label) => label < 0 || label >= classes);
  if (wrong >= 0) {
    throw new Error(
      `Label ${dataset.targets[wrong]} of sample ${wrong} in ${dataset.name} is not in 0..${classes - 1}. ` +
        `Correct the data, or the classCount (${classes}).`,
    );
  }
}

/**
 * Weights of a split's targets for its metrics, in the shape of the targets: a sample's weight where the mask counts
 * the target, else 0. Undefined where the split has neither.
 */
export function targetWeights({ targets, length, weights, mask }: Dataset): Float64Array | undefined {
  if (weights === undefined && mask === undefined) return undefined;
  const width = targets.length / length;
  return Float64Array.from(
    { length: targets.length },
    (_, index) => (weights?.[Math.floor(index / width)] ?? 1) * (mask?.[index] ?? 1),
  );
}

/** @throws Error where no target of a split counts */
export function requireCounted(dataset: Dataset): void {
  if (targetWeights(dataset)?.some((weight) => weight > 0) ?? true) return;
  throw new Error(
    `No target of ${dataset.name} counts: each is masked, or its sample has weight 0. A split needs one that ` +
      'counts; correct weights and mask.',
  );
}
