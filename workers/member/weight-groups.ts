import type { WeightGroup } from '../../core/protocol/run/optimizer-config.ts';
import { trainedWeightNames } from './weights.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import type { UpdateSettings } from '../optimizers/optimizer.ts';

/**
 * Freezes the weights of groups whose learning rate has the factor 0: they get neither updates nor optimizer slots.
 * Marks all weights that are not trained, also those in layers and nested models with `trainable = false`, for layers
 * whose computation depends on that. Call it before the model's trained weights are read.
 */
export function freezeWeights(model: LayersModel, groups: readonly WeightGroup[]): void {
  buildSequential(model);
  const candidates = model.trainableWeights;
  const found = groupsOf(model, groups);
  const trained = new Set(candidates.filter((_, i) => found[i]?.rateFactor !== 0));
  for (const weight of model.weights) {
    // The layers API declares weights without their setter.
    if (!trained.has(weight)) (weight as { trainable: boolean }).trainable = false;
  }
}

/** The groups that still have trained weights in a part of a model, whose weights are frozen already. */
export function groupsWithin(model: LayersModel, groups: readonly WeightGroup[]): WeightGroup[] {
  const names = trainedWeightNames(model);
  return groups.filter(
    ({ rateFactor, weights }) => rateFactor > 0 && names.some((name) => compile(weights).test(name)),
  );
}

/** tfjs builds a sequential model at its first call, and then marks all of its weights as trained. */
function buildSequential(layer: LayersModel['layers'][number]): void {
  const { model, layers = [] } = layer as { model?: unknown; layers?: LayersModel['layers'] };
  if (layer.getClassName() === 'Sequential' && (model === undefined || model === null)) layer.build([]);
  for (const inner of layers) buildSequential(inner);
}

/** The groups of a model's trained weights, which change the settings of their updates. */
export class WeightGroups {
  /** The group of each trained weight, in the model's order. */
  readonly #groups: readonly (WeightGroup | null)[];
  readonly #isPlain: boolean;

  constructor(model: LayersModel, groups: readonly WeightGroup[]) {
    const active = groups.filter(({ rateFactor }) => rateFactor > 0);
    this.#groups = active.length === 0 ? [] : groupsOf(model, active);
    this.#isPlain = this.#groups.every((group) => group === null);
  }

  /** The settings of each weight's update; the given ones where all weights have the same. */
  settings(given: UpdateSettings | readonly UpdateSettings[]): UpdateSettings | readonly UpdateSettings[] {
    if (this.#isPlain) return given;
    return this.#groups.map((_, i) => this.at(i, 'learningRate' in given ? given : given[i]));
  }

  /**
   * The settings of the i-th trained weight's update. A weight decay that differs by rank has priority over the
   * group's.
   */
  at(i: number, given: UpdateSettings): UpdateSettings {
    const group = this.#isPlain ? null : this.#groups[i];
    if (group === null) return given;
    const weightDecay = given.weightDecay ?? group.weightDecay;
    const learningRate = given.learningRate * group.rateFactor;
    return { ...given, learningRate, ...(weightDecay === undefined ? {} : { weightDecay }) };
  }
}

/**
 * The group of each trained weight; null for those in none.
 * @throws when a pattern is not a regular expression, or matches no trained weight
 */
function groupsOf(model: LayersModel, groups: readonly WeightGroup[]): (WeightGroup | null)[] {
  const names = trainedWeightNames(model);
  const patterns = groups.map((group) => ({ group, pattern: compile(group.weights) }));
  for (const { group, pattern } of patterns) {
    if (names.some((name) => pattern.test(name))) continue;
    throw new Error(
      `optimizer.groups: "${group.weights}" matches none of the trained weights ${names.join(', ')}. Change ` +
        'the pattern, or remove the group.',
    );
  }
  return names.map((name) => patterns.find(({ pattern }) => pattern.test(name))?.group ?? null);
}

function compile(pattern: string): RegExp {
  try {
    return new RegExp(pattern);
  } catch (error) {
    throw new Error(`optimizer.groups: "${pattern}" is not a regular expression. Correct it.`, { cause: error });
  }
}
