import {
  type DistanceScore,
  distancesFrom,
  looksAtInputs,
  meanDistances,
  type Reference,
} from '../../core/postprocessing/outside/distances.ts';
import type { Batch } from '../data/dataset.ts';
import { withFeatures } from './features.ts';
import type { LayersModel } from '../tensorflow/tf.ts';

/** Distances of the samples of a batch to the training samples. */
export class BatchDistances {
  /** The models to predict with: they also give their features, where distances are those between features. */
  readonly models: readonly LayersModel[];
  readonly looksAtFeatures: boolean;
  readonly #references: readonly Reference[];

  /** @param references one for each model, or one for the inputs */
  constructor(score: DistanceScore, references: readonly Reference[], models: readonly LayersModel[]) {
    this.#references = references;
    this.looksAtFeatures = !looksAtInputs(score);
    this.models = this.looksAtFeatures ? models.map(withFeatures) : models;
  }

  /**
   * Shape `[N]`.
   *
   * @param features of each model, shape `[N, D]`; none where distances are those between inputs
   * @param rows N
   */
  of(batch: Batch, features: readonly Float32Array[], rows: number): Float64Array {
    const views = this.looksAtFeatures ? features : [batch.features];
    const distances = meanDistances(views.map((own, member) => distancesFrom(this.#references[member], own)));
    if (distances.length === rows) return distances;
    throw new Error(
      `The inputs of ${batch.featureShape[0]} samples have ${distances.length} distances, but there are ${rows} ` +
        'predictions: fit them again with `tutti calibrate`.',
    );
  }
}
