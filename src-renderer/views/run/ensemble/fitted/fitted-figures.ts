import { formatMetric } from '../../../../../core/text/numbers.ts';
import { formatShare } from '../../../../../core/postprocessing/describe.ts';
import type { Measured } from '../../../../../core/postprocessing/measured-schema.ts';
import type { Postprocessing } from '../../../../../core/postprocessing/schema.ts';
import type { ReliabilityDiagramProps } from '../../../../charts/types.ts';

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
      `Coverage ${formatShare(found.coverage)} ± ${formatShare(found.standardError)}, wished ` +
        `${formatShare(1 - conformal.alpha)}; ${formatMetric(found.meanSize)} ${size}.`,
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

export const detectionFigureNames = [
  { id: 'auroc', title: 'AUROC', help: 'Area under the ROC curve: 0.5 by chance, 1 at best.' },
  { id: 'auprIn', title: 'AUPR in', help: 'Average precision with the samples inside as positives.' },
  { id: 'auprOut', title: 'AUPR out', help: 'Average precision with the samples outside as positives.' },
  {
    id: 'fpr95',
    title: 'FPR95',
    help: 'Share of the samples inside above the threshold that finds 95 % of those outside.',
  },
] as const;
export type DetectionFigure = (typeof detectionFigureNames)[number]['id'];

/** One figure of each score for each other data set. `isBest` marks the best score of a data set. */
export function detectionTable(measured: Measured | null, figure: DetectionFigure) {
  const others = measured?.outside?.others ?? [];
  const scores = [...new Set(others.flatMap((other) => Object.keys(other.scores)))];
  const rows = others.map(({ name, flagged, scores: found }) => {
    const values = scores.map((score) => found[score]?.[figure] ?? NaN);
    const finite = values.filter(Number.isFinite);
    const best = figure === 'fpr95' ? Math.min(...finite) : Math.max(...finite);
    const figures = values.map((value) => ({ value, isBest: value === best }));
    return { name, flagged: Number.isFinite(flagged) ? flagged : null, figures };
  });
  return { scores, rows };
}

/** The bins before and after calibration, a diagram each; none for values. */
export function reliabilityDiagrams(
  measured: Measured | null,
): { title: string; set: ReliabilityDiagramProps['sets'][number] }[] {
  const { before, after, reliability = null } = measured?.calibration ?? {};
  if (reliability === null || before === undefined || after === undefined) return [];
  return [
    { title: 'Reliability before', set: { label: `ECE ${formatMetric(before.ece)}`, bins: reliability.before } },
    { title: 'Reliability after', set: { label: `ECE ${formatMetric(after.ece)}`, bins: reliability.after } },
  ];
}

/** The risk-coverage curve as columns; null without one. */
export function curveColumns(measured: Measured | null) {
  const curve = measured?.selective?.curve ?? [];
  if (curve.length === 0) return null;
  const columnOf = (name: 'coverage' | 'risk' | 'threshold') => Float64Array.from(curve, (point) => point[name]);
  return { coverage: columnOf('coverage'), risk: columnOf('risk'), threshold: columnOf('threshold') };
}
