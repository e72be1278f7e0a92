import { totalWeight, type Weights } from '../metrics/weights.ts';

/** Risk of the answered samples at a coverage, the share of samples that are answered. */
export interface RiskPoint {
  coverage: number;
  risk: number;
  /** The least confidence of the answered samples. */
  threshold: number;
}

/**
 * The risk-coverage curve: at the end of each group of equal confidences, the most confident samples are answered and
 * the risk is their mean loss. In ascending order of coverage; the last point answers all.
 *
 * Source: Geifman and El-Yaniv, "Selective classification for deep neural networks", NIPS 2017.
 *
 * @param confidence shape `[N]`
 * @param losses of each sample, shape `[N]`: 1 for a wrong class, or a squared error
 * @param weights of each sample, shape `[N]`
 */
export function riskCoverageCurve(confidence: Float64Array, losses: Float64Array, weights?: Weights): RiskPoint[] {
  const total = totalWeight(confidence.length, weights);
  return tiesOf(confidence, losses, weights).map(({ weight, sum, threshold }) => ({
    coverage: weight / total,
    risk: sum / weight,
    threshold,
  }));
}

/**
 * Areas under the risk-coverage curve (AURC) and under the generalized one, of risk times coverage (AUGRC), by
 * trapezoids over the coverages 1/N to 1, divided by 1 − 1/N; with weights over those from the first sample's share to
 * 1. Samples of equal confidence count in all orders alike. NaN for fewer than two samples and where a confidence is
 * not finite.
 *
 * Sources: Geifman and El-Yaniv (2017); Traub et al., "Overcoming common flaws in the evaluation of selective
 * classification systems", NeurIPS 2024 (AUGRC); both are scaled as in TorchUncertainty.
 */
export function riskCoverageAreas(
  confidence: Float64Array,
  losses: Float64Array,
  weights?: Weights,
): { aurc: number; augrc: number } {
  const samples = confidence.length;
  if (samples < 2 || !confidence.every(Number.isFinite)) return { aurc: NaN, augrc: NaN };
  const total = totalWeight(samples, weights);
  let [aurc, augrc, first] = [0, 0, 0];
  let last = { weight: 0, sum: 0 };
  for (const { order, weight: end, sum } of tiesOf(confidence, losses, weights)) {
    const [start, before] = [last.weight, last.sum];
    const each = (sum - before) / (end - start);
    for (const sample of order) {
      const weight = last.weight + (weights?.[sample] ?? 1);
      const here = { weight, sum: before + each * (weight - start) };
      if (last.weight === 0) first = here.weight;
      else {
        const width = (here.weight - last.weight) / 2;
        aurc += width * (last.sum / last.weight + here.sum / here.weight);
        augrc += (width * (last.sum + here.sum)) / total;
      }
      last = here;
    }
  }
  return { aurc: aurc / (total - first), augrc: augrc / (total - first) };
}

/**
 * The point of the curve that answers most samples with a risk of at most `wished`; null where even the most confident
 * samples have a larger one.
 */
export function pointForRisk(curve: readonly RiskPoint[], wished: number): RiskPoint | null {
  return curve.findLast(({ risk }) => risk <= wished) ?? null;
}

/** Takes at most `count` points of a curve at equal steps, with the last one. */
export function thinCurve(curve: readonly RiskPoint[], count: number): RiskPoint[] {
  const chosen = Math.min(count, curve.length);
  return Array.from({ length: chosen }, (_, index) => curve[Math.ceil(((index + 1) * curve.length) / chosen) - 1]);
}

/**
 * Groups of equal confidence in descending order: its samples, the weight of all samples up to its end, and the
 * weighted sum of their losses.
 */
function tiesOf(confidence: Float64Array, losses: Float64Array, weights?: Weights) {
  const order = Uint32Array.from(confidence.keys()).sort((left, right) => confidence[right] - confidence[left]);
  const groups: { order: Uint32Array; weight: number; sum: number; threshold: number }[] = [];
  let [sum, weight, start] = [0, 0, 0];
  for (const [place, sample] of order.entries()) {
    const own = weights?.[sample] ?? 1;
    weight += own;
    sum += own * losses[sample];
    const isLast = place + 1 === order.length || confidence[order[place + 1]] !== confidence[sample];
    if (!isLast) continue;
    groups.push({ order: order.subarray(start, place + 1), weight, sum, threshold: confidence[sample] });
    start = place + 1;
  }
  return groups;
}
