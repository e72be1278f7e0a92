import type { PredictionData } from '../../../core/protocol/pages/run-data.ts';

/** What predictions of the kinds have in common, unless a test says otherwise. */
export const plainPredictions = {
  epoch: 0,
  positions: 1,
  weights: null,
  feature: null,
  classNames: null,
  targetNames: null,
  areHeldOut: false,
  places: null,
};

/** Two classes of two samples, 0 and 1, predicted by two members: the first is right both times, the second once. */
export const twoSamples: PredictionData = {
  combination: 'mean',
  ...plainPredictions,
  task: 'classification',
  kind: 'probabilities',
  ranks: [0, 1],
  samples: 2,
  width: 2,
  outputs: [Float32Array.of(0.9, 0.1, 0.4, 0.6, 0.7, 0.3, 0.8, 0.2)],
  targets: Int32Array.of(0, 1),
};
