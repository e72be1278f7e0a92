/** Risk of the answered samples at a coverage, the share of samples that are answered. */
export interface RiskPoint {
  coverage: number;
  risk: number;
  /** The least confidence of the answered samples. */
  threshold: number;
}

/**
 * The risk-coverage curve: at the end of each group of equal confidences, the most confident samples are answered and the risk is their mean
 * loss. In ascending order of coverage; the last point answers all.
 *
 * Source: Geifman and El-Yaniv, "Selective classification for deep neural networks", NIPS 2017.
 *
 * @param confidence shape `[N]`
 * @param losses of each sample, shape `[N]`: 1 for a wrong class, or a squared error
 */
export function riskCoverageCurve(confidence: Float64Array, losses: Float64Array): RiskPoint[] {
  return tiesOf(confidence, losses).map(({ end, sum, threshold }) => ({
    coverage: end / confidence.length,
    risk: sum / end,
    threshold,
  }));
}

/**
 * Areas under the risk-coverage curve (AURC) and under the generalized one, of risk times coverage (AUGRC), by trapezoids over the coverages
 * 1/N to 1, divided by 1 − 1/N. Samples of equal confidence count in all orders alike. NaN for fewer than two samples and where
 * a confidence is not finite.
 *
 * Sources: Geifman and El-Yaniv (2017); Traub et al., "Overcoming common flaws in the evaluation of selective classification systems", NeurIPS
 * 2024 (AUGRC); both are scaled as in TorchUncertainty.
 */
export function riskCoverageAreas(confidence: Float64Array, losses: Float64Array): { aurc: number; augrc: number } {
  const samples = confidence.length;
  if (samples < 2 || !confidence.every(Number.isFinite)) return { aurc: NaN, augrc: NaN };
  let [aurc, augrc, before, place] = [0, 0, 0, 0];
  for (const { end, sum } of tiesOf(confidence, losses)) {
    const each = (sum - before) / (end - place);
    for (let count = place + 1; count <= end; count++) {
      const total = before + each * (count - place);
      // The ends of the range belong to one trapezoid, all others to two.
      const weight = count === 1 || count === samples ? 0.5 : 1;
      aurc += (weight * total) / count;
      augrc += (weight * total) / samples;
    }
    [before, place] = [sum, end];
  }
  return { aurc: aurc / (samples - 1), augrc: augrc / (samples - 1) };
}

/**
 * The point of the curve that answers most samples with a risk of at most `wished`; null where even the most confident samples have a larger
 * one.
 */
export function pointForRisk(curve: readonly RiskPoint[], wished: number): RiskPoint | null {
  return curve.findLast(({ risk }) => risk <= wished) ?? null;
}

/** At most `count` points of a curve at equal steps, with the last one. */
export function thinCurve(curve: readonly RiskPoint[], count: number): RiskPoint[] {
  const chosen = Math.min(count, curve.length);
  return Array.from({ length: chosen }, (_, index) => curve[Math.ceil(((index + 1) * curve.length) / chosen) - 1]);
}

/** Groups of equal confidence in descending order: number of samples up to the group's end, and the sum of their losses. */
function tiesOf(confidence: Float64Array, losses: Float64Array) {
  const order = Uint32Array.from(confidence.keys()).sort((left, right) => confidence[right] - confidence[left]);
  const groups: { end: number; sum: number; threshold: number }[] = [];
  let sum = 0;
  for (const [place, sample] of order.entries()) {
    sum += losses[sample];
    const isLast = place + 1 === order.length || confidence[order[place + 1]] !== confidence[sample];
    if (isLast) groups.push({ end: place + 1, sum, threshold: confidence[sample] });
  }
  return groups;
}
