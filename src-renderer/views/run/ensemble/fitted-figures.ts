import { formatMetric } from '../../../../core/text/numbers.ts';
import { formatShare } from '../../../../core/postprocessing/describe.ts';
import type { Measured } from '../../../../core/postprocessing/measured-schema.ts';
import type { Postprocessing } from '../../../../core/postprocessing/schema.ts';
import type { ReliabilityDiagramProps } from '../../../charts/types.ts';

/** Metrics before and after calibration. */
export function figureRows(measured: Measured | null): { name: string; before: number; after: number }[] {
  const { before = {}, after = {} } = measured?.calibration ?? {};
  return Object.entries(before).map(([name, value]) => ({ name, before: value, after: after[name] ?? NaN }));
}

/** Coverage, areas under the risk-coverage curves and flagged samples, a sentence each. */
export function describeFound({ measured, conformal }: Postprocessing): string[] {
  if (measured === null) return [];
  const { conformal: found, selective, outside, split } = measured;
  const sentences: string[] = [];
  if (found !== null && conformal !== null) {
    const size = conformal.kind === 'sets' ? 'classes in a set on average' : 'mean width of intervals';
    sentences.push(
      `Coverage ${formatShare(found.coverage)} ± ${formatShare(found.standardError)}, wished ${formatShare(1 - conformal.alpha)}; ${formatMetric(found.meanSize)} ${size}.`,
    );
  }
  if (selective !== null) {
    const areas = `AURC ${formatMetric(selective.aurc)}, AUGRC ${formatMetric(selective.augrc)}`;
    const { chosen } = selective;
    const answers =
      chosen === null ? '' : `; ${formatShare(chosen.coverage)} answered with a risk of ${formatMetric(chosen.risk)}`;
    sentences.push(`${areas}${answers}.`);
  }
  if (outside !== null && Number.isFinite(outside.flagged)) {
    sentences.push(`${formatShare(outside.flagged)} of the ${split} split counts as outside the training data.`);
  }
  return sentences;
}

/** For each other data set the score with the largest AUROC. */
export function detectionRows(measured: Measured | null) {
  return (measured?.outside?.others ?? []).map(({ name, flagged, scores }) => {
    const [[score, { auroc, auprIn, auprOut, fpr95 }]] = Object.entries(scores).toSorted(
      ([, left], [, right]) => right.auroc - left.auroc,
    );
    return {
      name,
      score,
      flagged: Number.isFinite(flagged) ? flagged : null,
      figures: [auroc, auprIn, auprOut, fpr95],
    };
  });
}

/** The bins before and after calibration; null for values. */
export function reliabilitySets(measured: Measured | null): ReliabilityDiagramProps['sets'] | null {
  const { before, after, reliability = null } = measured?.calibration ?? {};
  if (reliability === null || before === undefined || after === undefined) return null;
  return [
    { label: `after (ECE ${after.ece.toFixed(4)})`, bins: reliability.after },
    { label: `before (ECE ${before.ece.toFixed(4)})`, bins: reliability.before, rank: 0 },
  ];
}

/** The risk-coverage curve as columns; null without one. */
export function curveColumns(measured: Measured | null) {
  const curve = measured?.selective?.curve ?? [];
  if (curve.length === 0) return null;
  const columnOf = (name: 'coverage' | 'risk' | 'threshold') => Float64Array.from(curve, (point) => point[name]);
  return { coverage: columnOf('coverage'), risk: columnOf('risk'), threshold: columnOf('threshold') };
}
