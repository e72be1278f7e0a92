import { outputCount, type TaskKind, usualQuantiles } from '../../../core/metrics/registry/metric.ts';
import type { FurtherOutput as DescribedOutput } from '../../../core/ensemble/predictions.ts';
import type { Dataset } from '../../data/dataset.ts';
import { type LayersModel, tf, type Tensor } from '../../tensorflow/tf.ts';
import { positionsOf } from './positions.ts';
import type { FurtherOutput, Task } from './task.ts';

/** What a further output of the model learns: the values of `extraTargets` of its name. */
export interface OutputSpec {
  task: TaskKind;
  /** Factor of its loss; 1 by default. */
  weight?: number;
  /** Number of classes, where the task has classes. */
  classCount?: number;
  /** Their names, instead of their number. */
  classNames?: readonly string[];
  /** Levels of the task `quantile-regression`. */
  quantiles?: readonly number[];
}

/** What predictions need to know of further outputs. */
export function describeOutputs(specs: Readonly<Record<string, OutputSpec>>): DescribedOutput[] {
  return Object.entries(specs).map(([name, { task, classNames, quantiles = usualQuantiles }]) => ({
    name,
    task,
    classNames: classNames === undefined ? null : [...classNames],
    quantiles: task === 'quantile-regression' ? [...quantiles] : null,
  }));
}

/**
 * A task whose model has further outputs after its own, each with its task: the loss is the sum of all, by weight, and
 * metrics of a further output are named `<output>/<metric>`.
 *
 * @param create makes the task of an output for a split with its targets
 */
export function withFurtherOutputs(
  main: Task,
  specs: Readonly<Record<string, OutputSpec>>,
  train: Dataset,
  create: (spec: OutputSpec, dataset: Dataset) => Task,
): Task {
  const own = outputCount(main.kind);
  const ownOf = (outputs: Tensor[]): Tensor[] => outputs.slice(0, own);
  const lossesOf: Task['losses'] = (outputs, targets, softening) => {
    const losses = main.losses?.(ownOf(outputs), targets, softening);
    if (losses === undefined) throw new Error(`The task ${main.kind} has no loss of each sample.`);
    return losses;
  };
  const further = furtherOutputs(specs, own, train, create);
  return {
    ...main,
    further,
    check(model, dataset) {
      requireNames(model, own, further);
      main.check(partOf(model, ownOf), dataset);
      for (const { task, outputsOf, datasetOf } of further) task.check(partOf(model, outputsOf), datasetOf(dataset));
    },
    loss: (outputs, targets, softening) => main.loss(ownOf(outputs), targets, softening),
    ...(main.losses !== undefined && { losses: lossesOf }),
    predictionsOf: (outputs) => main.predictionsOf?.(ownOf(outputs)) ?? ownOf(outputs),
    metrics(stack, dataset, options) {
      const metrics = new Map(main.metrics(stack, dataset, options));
      for (const { name, task, datasetOf } of further) {
        const predicted = stack.further?.[name];
        if (predicted === undefined) continue;
        const found = task.metrics({ ...predicted, ranks: stack.ranks }, datasetOf(dataset), options);
        for (const [metric, value] of found) metrics.set(`${name}/${metric}`, value);
      }
      return metrics;
    },
  };
}

/** @param next the index of the first further output among the model's */
function furtherOutputs(
  specs: Readonly<Record<string, OutputSpec>>,
  next: number,
  train: Dataset,
  create: (spec: OutputSpec, dataset: Dataset) => Task,
): FurtherOutput[] {
  return Object.entries(specs).map(([name, spec]) => {
    const first = next;
    next += outputCount(spec.task);
    const datasetOf = (dataset: Dataset) => datasetOfOutput(name, spec, dataset);
    return {
      name,
      weight: spec.weight ?? 1,
      task: create(spec, datasetOf(train)),
      outputsOf: (outputs) => outputs.slice(first, first + outputCount(spec.task)),
      targetsOf: (extraTargets) => withoutSingleAxis(spec, extraTargets[name], train.extraTargets?.[name].shape ?? []),
      datasetOf,
    };
  });
}

/** A model that shows some of its outputs alone. */
function partOf(model: LayersModel, outputsOf: (outputs: Tensor[]) => Tensor[]): LayersModel {
  // Outputs of a model are symbolic tensors, of which checks read shapes and layers.
  const outputs = outputsOf(model.outputs as unknown as Tensor[]);
  return Object.create(model, { outputs: { value: outputs } }) as LayersModel;
}

/** @throws Error unless the model's last outputs are the further ones, in their order */
function requireNames(model: LayersModel, own: number, further: readonly FurtherOutput[]): void {
  const expected = further.flatMap(({ name, task }) => (outputCount(task.kind) === 1 ? [name] : [name, null]));
  const found = model.outputNames?.slice(own) ?? [];
  if (found.length === expected.length && expected.every((name, i) => name === null || name === found[i])) return;
  throw new Error(
    `The model's outputs are ${model.outputNames?.join(', ') ?? 'unnamed'}; the project needs ${own} of its task, ` +
      `then ${further.map(({ name }) => name).join(', ')}. Give the last layer of each further output its name, and ` +
      'list them in this order.',
  );
}

function datasetOfOutput(name: string, { classCount, classNames }: OutputSpec, dataset: Dataset): Dataset {
  const { mask: _, targetShape: __, classNames: ___, classCount: ____, extraTargets = {}, ...others } = dataset;
  if (!Object.hasOwn(extraTargets, name)) {
    throw new Error(
      `${dataset.name} has no extraTargets "${name}", which the output of this name learns. Add them to the ` +
        'data, or remove the output.',
    );
  }
  const { shape, values } = extraTargets[name];
  return {
    ...others,
    extraTargets,
    name: `${name} of ${dataset.name}`,
    targets: values instanceof Uint8Array ? Int32Array.from(values) : values,
    ...(shape.length > 0 && { targetShape: shape }),
    ...(classNames && { classNames }),
    classCount: classCount ?? classNames?.length,
  };
}

/** Labels `[..., B, 1]` without their last axis. */
function withoutSingleAxis({ task }: OutputSpec, targets: Tensor, targetShape: readonly number[]): Tensor {
  const isSingle = targetShape.length === 1 && targetShape[0] === 1 && positionsOf(task, { targetShape }).length === 0;
  return isSingle ? tf.reshape(targets, targets.shape.slice(0, -1)) : targets;
}
