import { askedPerWorker } from '../../../core/protocol/run/workers.ts';
import { outputCount } from '../../../core/metrics/registry/metric.ts';
import { strategyRules } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import type { Sampler } from '../../data/samplers.ts';
import { type InnerBatch, InnerInputs, InnerLayer } from '../../tensorflow/layers/inner/inner-layer.ts';
import { MeanOfMembers } from '../../tensorflow/layers/inner/mean-of-members.ts';
import { tf, type LayersModel } from '../../tensorflow/tf.ts';
import type { Task } from './task.ts';

type Layer = LayersModel['layers'][number];

/** What a model with inner members does to a batch in training; null for other models. */
export function innerBatchOf(model: LayersModel): InnerBatch | null {
  return model.layers.find((layer) => layer instanceof InnerInputs)?.batch ?? null;
}

/**
 * Checks that a model's inner members belong together, and that the run can train them. Models without inner members
 * pass.
 * @throws Error that names the layer or the option, and the remedy
 */
export function requireInnerMembers(model: LayersModel, task: Task, config: RunConfig): void {
  requireAtTop(model);
  const inner = model.layers.filter((layer) => layer instanceof InnerLayer);
  if (inner.length === 0) return;
  const [{ members, name }] = inner;
  const other = inner.find((layer) => layer.members !== members);
  if (other !== undefined) {
    throw new Error(
      `Layer "${other.name}" has ${other.members} members, but layer "${name}" has ${members}. Make all layers ` +
        'with the same batchEnsemble() or mimo().',
    );
  }
  const batches = inner.filter((layer) => layer instanceof InnerInputs).map(({ batch }) => JSON.stringify(batch));
  if (new Set(batches).size !== 1) {
    throw new Error(
      `The model has ${batches.length} layers inputs() of batchEnsemble or mimo: it needs one, or one of ` +
        'batchEnsemble for each of its inputs, with the same options.',
    );
  }
  requireMeans(model, task);
  requireTrainable(config, innerBatchOf(model));
}

/** @throws Error where the samples of a batch cannot be split over a model's inner members */
export function requireEvenBatches(model: LayersModel, sampler: Sampler): void {
  const inputs = model.layers.find((layer) => layer instanceof InnerInputs);
  if (inputs?.batch.isSplit !== true) return;
  for (const { length } of sampler.batches(0)) {
    if (length % inputs.members === 0) continue;
    throw new Error(
      `A batch of the training split has ${length} samples, which cannot be split evenly over the ` +
        `${inputs.members} members of layer "${inputs.name}". Choose a batchSize that ${inputs.members} divides, ` +
        "with dropLast, or batchEnsemble({ training: 'repeat' }).",
    );
  }
}

/** Layers inside of other layers get no batch of members, and could not be told apart later. */
function requireAtTop(model: LayersModel): void {
  for (const outer of model.layers) {
    const inner = layersInside(outer).find((layer) => layer instanceof InnerLayer);
    if (inner === undefined) continue;
    throw new Error(
      `Layer "${inner.name}" of inner members is inside of layer "${outer.name}". Put it into the model itself.`,
    );
  }
}

function layersInside(layer: Layer): Layer[] {
  const inner = Object.values(layer)
    .flat()
    .filter((value): value is Layer => value instanceof tf.layers.Layer);
  return inner.flatMap((own) => [own, ...layersInside(own)]);
}

/** Each output must be the mean of the members' predictions for its task. */
function requireMeans(model: LayersModel, task: Task): void {
  const heads = [task, ...(task.further ?? []).map((output) => output.task)];
  const sources = model.outputs.map(({ sourceLayer }) => sourceLayer);
  const ofHeads = heads.flatMap(({ kind }) => Array<Task['kind']>(outputCount(kind)).fill(kind));
  sources.forEach((layer, output) => {
    const kind = ofHeads[output];
    if (layer instanceof MeanOfMembers && layer.task === kind) return;
    const found =
      layer instanceof MeanOfMembers
        ? `predicts the mean for the task ${layer.task}`
        : 'does not predict the mean of the inner members';
    throw new Error(
      `Output ${output} of the model, layer "${layer.name}", ${found}. End it in outputs({ task: '${kind}' }) ` +
        'of batchEnsemble or mimo.',
    );
  });
}

function requireTrainable(config: RunConfig, batch: InnerBatch | null): void {
  const { strategy } = config;
  const together = askedPerWorker(config);
  const obstacle = strategyRules[strategy.kind].exchangesOutputs
    ? `the strategy ${strategy.kind}, whose members exchange one prediction for each sample`
    : together > 1
      ? `membersPerDevice ${together}, which computes members as one in another way`
      : batch?.isSplit === true && strategyRules[strategy.kind].isOneModel
        ? `training "split" with the strategy ${strategy.kind}, whose ranks get batches of different sizes`
        : null;
  if (obstacle === null) return;
  throw new Error(
    `The model has inner members (batchEnsemble or mimo), which do not work with ${obstacle}. Remove the one ` +
      'or the other.',
  );
}
