import type { WeightPlace } from '../../member/weights.ts';
import type { Unit } from '../../segments/model-units.ts';

/** A rank's part of a model whose layers are spread over S ranks. */
export interface ModelStage {
  /** Index of this rank's part, from 0. */
  stage: number;
  /** The ranks that hold the parts of this model, shape [S]. */
  ranks: readonly number[];
  /** Its units, a chain. */
  units: readonly Unit[];
  /** For every stage. */
  all: readonly StageSummary[];
}

/** What all ranks know of a stage. */
export interface StageSummary {
  /** Index of its first unit. */
  start: number;
  /** The first and the last layer that it calls. */
  layers: readonly [first: string, last: string];
  /** The weights that its rank holds, in the model's order. */
  weights: readonly WeightPlace[];
}
