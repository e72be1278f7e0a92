import type { Dataset } from '../../data/dataset.ts';
import type { LayersModel } from '../../tensorflow/tf.ts';

/** T, targets of a sample. */
export function targetColumns(dataset: Dataset): number {
  return dataset.targets.length / dataset.length;
}

/** @throws Error with both shapes unless the model's outputs are `[B, width]` each */
export function requireOutputs(model: LayersModel, widths: number[], expected: string): void {
  const shapes = model.outputs.map((output) => output.shape);
  const fits = shapes.length === widths.length && shapes.every((s, i) => s.length === 2 && s[1] === widths[i]);
  if (fits) return;
  const found = shapes.map((shape) => `[${shape.map((size) => size ?? 'B').join(', ')}]`).join(' and ');
  throw new Error(
    `The model's output has shape ${found}, but the task needs ${expected}. Change the model's last layer.`,
  );
}

/** @throws Error where targets are labels */
export function requireValues(dataset: Dataset): void {
  if (!(dataset.targets instanceof Float32Array)) {
    throw new Error(`Targets of ${dataset.name} are class labels: a regression task needs a Float32Array of values.`);
  }
}

/** K. @throws Error where the data set names no number of classes */
export function classCount(dataset: Dataset): number {
  if (dataset.classCount === undefined) {
    throw new Error(`Data set ${dataset.name} has no class count: set its classCount.`);
  }
  return dataset.classCount;
}

/** @throws Error unless targets are labels from 0 to `classes` - 1 */
export function requireLabels(dataset: Dataset, classes: number): void {
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
