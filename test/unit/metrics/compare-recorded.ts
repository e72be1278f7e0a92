import {
  classificationMetrics,
  memberProbabilities,
  meanProbabilities,
  type Metrics,
  type Probabilities,
  productOfExperts,
  regressionMetrics,
  reliabilityBins,
  stackedClasses,
} from '../../../core/metrics/index.ts';
import { type Recorded, type RecordedScores, recordedNumber } from './recorded.ts';

/** One of our values beside a recorded one. */
export interface Comparison {
  /** The compared quantity: `nll`, `ece`, `reliability bins`. */
  quantity: string;
  /** Its subject: `ens`, `member_0`. */
  subject: string;
  found: number;
  expected: number;
}

type Given<Kind extends keyof Recorded> = Recorded[Kind] extends (infer Case)[] ? Case : never;

export function compareClassification(given: Given<'classification'>): Comparison[] {
  const [members, samples, width] = given.shape;
  const values = Float32Array.from(given.values, recordedNumber);
  const targets = Int32Array.from(given.targets);
  const stack = stackedClasses({ kind: given.form, members, samples, width, values });
  const metrics = classificationMetrics(
    stack,
    targets,
    given.members.map((_, member) => member),
    { combination: 'product' },
  );
  const product =
    given.product === null ? [] : compareScores('product', given.product, metrics, productOfExperts(stack), targets);
  return [
    ...compareScores('ens', given.ensemble, metrics, meanProbabilities(stack), targets),
    ...given.members.flatMap((scores, member) =>
      compareScores(`member_${member}`, scores, metrics, memberProbabilities(stack, member), targets),
    ),
    ...product,
    ...(['predictive_entropy', 'mutual_information', 'not_unanimous'] as const).map((quantity) =>
      compare(quantity, 'ens', metrics.get(quantity), given[quantity]),
    ),
  ];
}

export function compareBinary(given: Given<'binary'>): Comparison[] {
  const [members, samples] = given.shape;
  const stack = stackedClasses({ kind: 'logits', members, samples, width: 1, values: Float32Array.from(given.values) });
  const ranks = given.member_nll.map((_, member) => member);
  const metrics = classificationMetrics(stack, Int32Array.from(given.targets), ranks);
  return [
    compare('nll', 'ens', metrics.get('ens_nll'), given.ensemble_nll),
    ...given.member_nll.map((nll, i) => compare('nll', `member_${i}`, metrics.get(`member_${i}_nll`), nll)),
    ...given.member_acc.map((acc, i) => compare('acc', `member_${i}`, metrics.get(`member_${i}_acc`), acc)),
  ];
}

export function compareRegression(given: Given<'regression'>): Comparison[] {
  const [members, samples] = given.shape;
  const stackOf = (values: number[]) => ({ members, samples, values: Float32Array.from(values) });
  const ranks = given.member_mse.map((_, member) => member);
  const targets = Float32Array.from(given.targets);
  const metrics = regressionMetrics(stackOf(given.means), stackOf(given.variances), targets, ranks);
  return [
    compare('mse', 'ens', metrics.get('ens_mse'), given.ens_mse),
    compare('mixture nll', 'ens', metrics.get('ens_nll'), given.ens_nll),
    compare('ens_std', 'ens', metrics.get('ens_std'), given.ens_std),
    compare('aleatoric_variance', 'ens', metrics.get('aleatoric_variance'), given.aleatoric_variance),
    compare('epistemic_variance', 'ens', metrics.get('epistemic_variance'), given.epistemic_variance),
    ...given.member_mse.map((mse, i) => compare('mse', `member_${i}`, metrics.get(`member_${i}_mse`), mse)),
    ...given.member_nll.map((nll, i) => compare('gaussian nll', `member_${i}`, metrics.get(`member_${i}_nll`), nll)),
  ];
}

function compareScores(
  subject: string,
  scores: RecordedScores,
  metrics: Metrics,
  probabilities: Probabilities,
  targets: Int32Array,
): Comparison[] {
  const { nll, acc, brier, ece, ece_torchmetrics, bins } = scores;
  const named = { nll, acc, brier, ece };
  const ownEce = metrics.get(`${subject}_ece`);
  return [
    ...Object.entries(named).map(([quantity, value]) =>
      compare(quantity, subject, metrics.get(`${subject}_${quantity}`), value),
    ),
    ...(ece_torchmetrics === undefined ? [] : [compare('ece of torchmetrics', subject, ownEce, ece_torchmetrics)]),
    ...(bins === undefined ? [] : compareBins(subject, probabilities, targets, bins)),
  ];
}

/** scikit-learn's `calibration_curve` omits empty bins. */
function compareBins(
  subject: string,
  probabilities: Probabilities,
  targets: Int32Array,
  expected: readonly [number, number][],
): Comparison[] {
  const bins = reliabilityBins(probabilities, targets).filter(({ count }) => count > 0);
  return [
    compare('reliability bins', subject, bins.length, expected.length),
    ...expected.flatMap(([accuracy, confidence], index) => [
      compare('reliability bins', subject, bins[index]?.accuracy, accuracy),
      compare('reliability bins', subject, bins[index]?.confidence, confidence),
    ]),
  ];
}

/** @throws if there is no such metric */
function compare(quantity: string, subject: string, found: number | undefined, expected: number | string): Comparison {
  if (found === undefined) throw new Error(`There is no ${quantity} of ${subject}.`);
  return { quantity, subject, found, expected: recordedNumber(expected) };
}
