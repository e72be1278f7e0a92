import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { combinationOf } from '../../core/protocol/run/strategies/strategy-rules.ts';
import { writeFileAtomic } from '../../core/node/atomic-file.ts';
import { messageOf } from '../../core/text/errors.ts';
import type { CalibrationTask } from '../../core/protocol/run/checkpoint-tasks.ts';
import type { Detection, Measured } from '../../core/postprocessing/measured-schema.ts';
import { fitPostprocessing } from '../../core/postprocessing/fit.ts';
import { type HeldOut, sampleCount } from '../../core/postprocessing/held-out.ts';
import type { Fitted } from '../../core/postprocessing/apply.ts';
import { flaggedShare, measureDetection, measurePostprocessing } from '../../core/postprocessing/measure.ts';
import {
  type DistanceScore,
  distanceScoreNames,
  isDistanceScore,
  type Reference,
} from '../../core/postprocessing/outside/distances.ts';
import { encodeReferences } from '../../core/postprocessing/outside/reference-file.ts';
import { targetNamesOf } from '../../core/preprocessing/schema.ts';
import { type Postprocessing, postprocessingSchema, referencePath } from '../../core/postprocessing/schema.ts';
import { readCheckpoint } from '../checkpoints/checkpoint-store.ts';
import { type Dataset, type Splits, take } from '../data/dataset.ts';
import { predict } from '../member/predict.ts';
import { joinStacks, type MemberOutputs } from '../member/predictions.ts';
import { preprocessingOf } from '../data/standardize.ts';
import { noteOnAbsent } from '../member/tasks/checks.ts';
import type { Task } from '../member/tasks.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import type { RunModels } from '../project/rebuild-model.ts';
import { areImages, corrupted, corruptions, strengths } from './corruptions.ts';
import { heldOutSamples, usedRows } from './held-out-samples.ts';
import {
  distancesTo,
  fitPossibleReferences,
  fitReferences,
  type References,
  trainingPart,
} from './training-distances.ts';

/** Corrupted images are many data sets: each has at most this number of samples. */
const CORRUPTED_SAMPLES = 1000;

type Split = 'validation' | 'test';

/** A set of checkpoints that can predict. */
class CheckpointSet {
  readonly #models: RunModels;
  readonly #task: Task;
  readonly #request: CalibrationTask;
  readonly #levels: readonly number[] | null;
  #references: References = new Map();

  constructor(models: RunModels, task: Task, request: CalibrationTask, levels: readonly number[] | null) {
    this.#models = models;
    this.#task = task;
    this.#request = request;
    this.#levels = levels;
  }

  /**
   * Fits what distances are measured from.
   *
   * @param needed the score that was asked for; null: none
   * @param others scores to measure as well, as far as they suit the model
   * @returns the references of the needed score
   */
  async fitDistances(
    needed: DistanceScore | null,
    others: readonly DistanceScore[],
    train: Dataset,
  ): Promise<readonly Reference[]> {
    if (needed === null && others.length === 0) return [];
    const part = trainingPart(train, this.#request.config.seed);
    const rest = [part, () => this.#eachModel(), this.#task.kind] as const;
    const own = await fitReferences(needed === null ? [] : [needed], ...rest);
    const more = await fitPossibleReferences(
      others.filter((score) => score !== needed),
      ...rest,
    );
    this.#references = new Map([...own, ...more]);
    return needed === null ? [] : (own.get(needed) ?? []);
  }

  /** Predictions of all members, one after the other, because memory may not hold all models at once, and distances. */
  async predict(dataset: Dataset): Promise<HeldOut> {
    const stacks: MemberOutputs[] = [];
    let position = 0;
    for await (const model of this.#eachModel()) {
      const ranks = [this.#request.ranks[position++]];
      stacks.push({ ...(await predict(model, this.#task, dataset)), ranks });
    }
    const stack = joinStacks(stacks);
    const combination = combinationOf(this.#request.config.strategy, this.#task.kind);
    const samples = { ...heldOutSamples(stack, dataset, this.#task.kind, this.#levels), combination };
    if (this.#references.size === 0) return samples;
    const rows = usedRows(dataset, stack.samples / dataset.length);
    return { ...samples, distances: await distancesTo(this.#references, dataset, () => this.#eachModel(), rows) };
  }

  async *#eachModel(): AsyncGenerator<LayersModel> {
    for (const rank of this.#request.ranks) yield await this.#models.withWeights(rank, this.#request.set);
  }
}

/**
 * Fits what a task asks for on one split of the project's data, and measures it on the other, on data sets outside the
 * training data and on corrupted images. Requires a started backend.
 *
 * @throws Error where the split is missing, or a method does not suit it
 */
export async function calibrateSet(request: CalibrationTask, models: RunModels): Promise<Postprocessing> {
  const { task, data, project } = await models.project();
  const levels = task.kind === 'quantile-regression' ? (project.quantiles ?? [0.05, 0.5, 0.95]) : null;
  const set = new CheckpointSet(models, task, request, levels);
  const split = requireSplit(data, request.split);
  const targets = targetNamesOf(preprocessingOf(data));
  const note = noteOnAbsent(split, task.kind, 'What is fitted on it says nothing of it.', targets);
  if (note !== null) models.warnings.push(note);
  const { classNames = data.train.classNames } = split;
  const references = await set.fitDistances(...distancesFor(request, data), data.train);
  const samples = await set.predict(split);
  const { parts, judged, ...found } = fitPostprocessing(request.request, samples, request.config.seed);
  const fitted = { ...found, outside: await withReference(request, found.outside, references) };
  const members = await Promise.all(request.ranks.map((rank) => memberOf(request, rank)));
  return postprocessingSchema.parse({
    format: 1,
    task: task.kind,
    set: { name: request.set, members },
    classNames: classNames === undefined ? null : [...classNames],
    targetNames: targets === undefined ? null : [...targets],
    fittedOn: { split: request.split, samples: sampleCount(samples), parts },
    ...fitted,
    judged,
    measured: await measure(request, set, data, fitted),
  } satisfies Postprocessing);
}

/**
 * The distance that was asked for, and those that are also measured where there are samples outside the training data.
 */
function distancesFor(
  { request: { outside }, corruptions }: CalibrationTask,
  { outOfDistribution = {} }: Splits,
): [DistanceScore | null, readonly DistanceScore[]] {
  const hasOthers = corruptions || Object.keys(outOfDistribution).length > 0;
  return [isDistanceScore(outside) ? outside : null, hasOthers ? distanceScoreNames : []];
}

/**
 * Writes what distances are measured from, under the name of its content: what was fitted before stays whole until the
 * new file is named.
 */
async function withReference(
  { set, into }: CalibrationTask,
  outside: Fitted['outside'],
  references: readonly Reference[],
): Promise<Fitted['outside']> {
  if (outside === null || references.length === 0) return outside;
  const content = encodeReferences(references);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const path = referencePath(set, sha256);
  await writeFileAtomic(join(into, path), content);
  return { ...outside, reference: { path, bytes: content.byteLength, sha256 } };
}

async function memberOf({ runFolder, set }: CalibrationTask, rank: number) {
  const { record } = await readCheckpoint(runFolder, rank, set);
  return { rank, checkpoint: set, epoch: record.epoch };
}

function requireSplit(data: Splits, split: Split): Dataset {
  const dataset = data[split];
  if (dataset !== undefined) return dataset;
  throw new Error(
    `The project's data has no ${split} split, and calibration needs samples that the members did not train on. ` +
      `Give it one in data(), or calibrate on the other split: --split ${otherOf(split)}.`,
  );
}

const otherOf = (split: Split): Split => (split === 'test' ? 'validation' : 'test');

async function measure(
  request: CalibrationTask,
  set: CheckpointSet,
  data: Splits,
  fitted: Fitted,
): Promise<Measured | null> {
  const split = otherOf(request.split);
  const dataset = data[split];
  if (dataset === undefined || dataset.heldOutBy !== undefined) return null;
  const samples = await set.predict(dataset);
  const others: Detection[] = [];
  const detect = async (other: Dataset, named: Pick<Detection, 'name' | 'kind'>, inside: HeldOut): Promise<void> => {
    others.push(measureDetection(fitted, inside, await set.predict(other), named));
  };
  for (const [name, given] of Object.entries(data.outOfDistribution ?? {})) {
    await detect(await otherDataset(name, given, data.train), { name, kind: 'data' }, samples);
  }
  if (request.corruptions) {
    const clean = take(requireImages(dataset), Math.min(dataset.length, CORRUPTED_SAMPLES));
    const inside = await set.predict(clean);
    for (const corruption of corruptions) {
      for (const strength of strengths) {
        const other = corrupted(clean, corruption, strength, request.config.seed);
        await detect(other, { name: `${corruption} ${strength}`, kind: 'corruption' }, inside);
      }
    }
  }
  const hasOutside = fitted.outside !== null || others.length > 0;
  return {
    split,
    samples: sampleCount(samples),
    ...measurePostprocessing(fitted, samples),
    outside: hasOutside ? { flagged: flaggedShare(fitted, samples), others } : null,
  };
}

/** The data set, with the training data's normalization unless it has its own. @throws Error with its name */
async function otherDataset(
  name: string,
  given: Dataset | (() => Dataset | Promise<Dataset>),
  { featureShape, normalization }: Dataset,
): Promise<Dataset> {
  const dataset = typeof given === 'function' ? await readOther(name, given) : given;
  if (dataset.featureShape.join() !== featureShape.join()) {
    throw new Error(
      `The samples of outOfDistribution.${name} have shape [${dataset.featureShape.join(', ')}], those of ` +
        `training [${featureShape.join(', ')}]: the model needs the same.`,
    );
  }
  return { ...dataset, normalization: dataset.normalization ?? normalization, targetShape: undefined, mask: undefined };
}

async function readOther(name: string, read: () => Dataset | Promise<Dataset>): Promise<Dataset> {
  try {
    return await read();
  } catch (error) {
    throw new Error(`outOfDistribution.${name} could not be read: ${messageOf(error)}`, { cause: error });
  }
}

function requireImages(dataset: Dataset): Dataset {
  if (areImages(dataset)) return dataset;
  throw new Error(
    `Only images can be corrupted, and samples of ${dataset.name} have shape [${dataset.featureShape.join(', ')}], ` +
      'not [height, width, channels]. Leave out --corruptions.',
  );
}
