import type { Combination } from '../metrics/combination.ts';
import type { TaskKind } from '../metrics/registry/metric.ts';
import { classCalibrationsOf } from './calibration/fit-calibration.ts';
import { labelCalibrations } from './fit-labels.ts';
import { distanceScoreNames } from './outside/distances.ts';
import type { PostprocessingRequest } from './request.ts';
import { type OutsideScore, predictionScoreNames, setMethods } from './schema.ts';

/** What can be fitted for a task; the first of each is the usual one. */
export interface PostprocessingChoices {
  /** Empty for quantiles, which have nothing to calibrate. */
  methods: readonly PostprocessingRequest['method'][];
  conformal: readonly PostprocessingRequest['conformal'][];
  /** The scores of predictions, then the distances. */
  outside: readonly OutsideScore[];
  /** Whether sets can have a threshold for each class. */
  hasClasses: boolean;
}

/** What can be fitted for the predictions of a task. */
export function choicesFor(task: TaskKind, combination: Combination): PostprocessingChoices {
  switch (task) {
    case 'classification':
    case 'binary':
    case 'ordinal':
      return {
        methods: classCalibrationsOf(combination),
        conformal: ['auto', ...setMethods],
        outside: allScores,
        hasClasses: true,
      };
    case 'multi-label':
      return { methods: labelCalibrations, conformal: ['thr'], outside: allScores, hasClasses: false };
    case 'quantile-regression':
      return { methods: [], conformal: ['cqr'], outside: ofValues, hasClasses: false };
    case 'regression':
    case 'heteroscedastic-regression':
    case 'poisson-regression':
      return { methods: ['sigma'], conformal: ['sigma-scaled', 'split'], outside: ofValues, hasClasses: false };
  }
}

const allScores: readonly OutsideScore[] = [...predictionScoreNames, ...distanceScoreNames];
const ofValues: readonly OutsideScore[] = ['variance', ...distanceScoreNames];
