import { expectedCalibrationError, reliabilityBins } from '../metrics/calibration.ts';
import { accuracy, brierScore } from '../metrics/classification.ts';
import { logLikelihoods, mixtureLogLikelihoods, nllOf } from '../metrics/likelihood.ts';
import { intervalCoverage as mixtureCoverage } from '../metrics/scores/mixture-scores.ts';
import { gaussianLogDensities } from '../metrics/regression.ts';
import type { Probabilities } from '../metrics/stacks.ts';
import { weightedMean, type Weights } from '../metrics/weights.ts';
import type { Fitted } from './apply.ts';
import { intervalCoverage, labelCoverage, setCoverage } from './conformal/coverage.ts';
import { asTwoClasses, predictedDensity } from './calibration/judge.ts';
import { applyTo, confidenceAndLosses } from './answers.ts';
import { countedWeights, type HeldOut, type ValueSamples } from './held-out.ts';
import type { Detection, Measured } from './measured-schema.ts';
import { outsideScoresOf, scoresFor } from './outside/scores.ts';
import { detectionFigures } from './outside/detection.ts';
import { riskCoverageAreas, riskCoverageCurve, thinCurve } from './risk-coverage.ts';

/** What the pages and tables show of a split, without its name. */
export type Figures = Pick<Measured, 'calibration' | 'conformal' | 'selective'>;

const CURVE_POINTS = 101;

/** Figures of what was fitted on samples that it was not fitted on. */
export function measurePostprocessing(fitted: Fitted, samples: HeldOut): Figures {
  const calibration = measureCalibration(fitted, samples);
  return { calibration, conformal: measureConformal(fitted, samples), selective: measureSelective(fitted, samples) };
}

function measureCalibration(fitted: Fitted, samples: HeldOut): Measured['calibration'] {
  switch (samples.kind) {
    case 'classes': {
      const [before, after] = [null, fitted.calibration].map((calibration) => {
        return applyTo({ ...fitted, calibration }, samples).probabilities;
      });
      return compareClasses(before, after, samples.targets, samples.weights);
    }
    case 'labels': {
      const [before, after] = [null, fitted.calibration].map((calibration) => {
        return asTwoClasses(applyTo({ ...fitted, calibration }, samples).logits);
      });
      return compareClasses(before, after, Int32Array.from(samples.targets), countedWeights(samples), 0.5);
    }
    case 'values':
      return measureValues(fitted, samples);
  }
}

/** @param brierFactor 1/2 for labels, whose Brier score counts the probability that they are present alone */
function compareClasses(
  before: Probabilities,
  after: Probabilities,
  targets: Int32Array,
  weights: Weights | undefined,
  brierFactor = 1,
): Measured['calibration'] {
  const figuresOf = (probabilities: Probabilities) => ({
    nll: nllOf(logLikelihoods(probabilities, targets), weights),
    ece: expectedCalibrationError(probabilities, targets, weights),
    brier: brierFactor * brierScore(probabilities, targets, weights),
    acc: accuracy(probabilities, targets, weights),
  });
  return {
    before: figuresOf(before),
    after: figuresOf(after),
    reliability: {
      before: reliabilityBins(before, targets, weights),
      after: reliabilityBins(after, targets, weights),
    },
  };
}

/**
 * The figures of the mixture of members that predict variances, named as the run's metrics. Values without
 * variances and counts have no such density once their deviations are scaled: they are judged as one Gaussian with the
 * total variance, and the figures' names say so. Null where no variance is known.
 */
function measureValues({ combination, calibration }: Fitted, samples: ValueSamples): Measured['calibration'] {
  if (samples.levels !== null) return null;
  const targets = Float64Array.from(samples.targets);
  const weights = countedWeights(samples);
  const figuresOf = (fitted: Fitted['calibration']) => {
    const predicted = predictedDensity({ combination, calibration: fitted }, samples);
    if (predicted === null) return null;
    const { mixture, prefix } = predicted;
    const logarithms = mixture.map((own) => gaussianLogDensities(own.means, own.variances, targets));
    return {
      [`${prefix}nll`]: nllOf(mixtureLogLikelihoods(logarithms), weights),
      [`${prefix}coverage_90`]: mixtureCoverage(mixture, targets, 0.9, weights),
      [`${prefix}coverage_95`]: mixtureCoverage(mixture, targets, 0.95, weights),
    };
  };
  const [before, after] = [figuresOf(null), figuresOf(calibration)];
  return before === null || after === null ? null : { before, after, reliability: null };
}

function measureConformal(fitted: Fitted, samples: HeldOut): Measured['conformal'] {
  if (samples.kind === 'classes') {
    const { sets } = applyTo(fitted, samples);
    return sets === null ? null : setCoverage(sets, samples.targets, samples.weights);
  }
  if (samples.kind === 'labels') {
    const { sets } = applyTo(fitted, samples);
    return sets === null ? null : labelCoverage(sets, samples);
  }
  const { intervals } = applyTo(fitted, samples);
  return intervals && intervalCoverage(intervals, samples.targets, countedWeights(samples));
}

function measureSelective(fitted: Fitted, samples: HeldOut): Measured['selective'] {
  const { confidence, losses } = confidenceAndLosses(fitted, samples);
  const { weights } = samples;
  const curve = riskCoverageCurve(confidence, losses, weights);
  const threshold = fitted.selective?.threshold;
  const chosen = threshold === undefined ? null : (curve.findLast((point) => point.threshold >= threshold) ?? null);
  return {
    ...riskCoverageAreas(confidence, losses, weights),
    curve: thinCurve(curve, CURVE_POINTS),
    chosen: chosen === null ? null : { coverage: chosen.coverage, risk: chosen.risk },
  };
}

/**
 * How well each score tells other samples from those like the training data, and what share of them the threshold
 * flags.
 *
 * @param inside samples like the training data
 * @param others predictions of other samples; their targets do not matter
 */
export function measureDetection(
  { outside }: Fitted,
  inside: HeldOut,
  others: HeldOut,
  { name, kind }: Pick<Detection, 'name' | 'kind'>,
): Detection {
  const scores: Detection['scores'] = {};
  let [flagged, samples] = [NaN, 0];
  for (const score of scoresFor(inside)) {
    const far = outsideScoresOf(score, others);
    samples = far.length;
    scores[score] = { ...detectionFigures(outsideScoresOf(score, inside), far) };
    if (outside?.score === score) flagged = shareAbove(far, outside.threshold);
  }
  return { name, kind, samples, scores, flagged };
}

/** Share of the samples whose score is above the threshold; NaN without a threshold. */
export function flaggedShare({ outside }: Fitted, samples: HeldOut): number {
  if (outside === null) return NaN;
  return shareAbove(outsideScoresOf(outside.score, samples), outside.threshold, samples.weights);
}

function shareAbove(scores: Float64Array, threshold: number, weights?: Weights): number {
  return weightedMean(
    scores.map((score) => Number(!(score <= threshold))),
    weights,
  );
}
