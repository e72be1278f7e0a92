import { type BatchCalibration, nominalShares } from '../../../../core/discovery/calibration.ts';
import type { DiscoveryView } from '../../../../core/protocol/pages/discovery/discovery-views.ts';
import type { PlotLine, PointGroup } from '../../../charts/scatter/types.ts';

export interface CalibrationFigure {
  groups: PointGroup[];
  lines: PlotLine[];
  yLabel: string;
  help: string;
}

type OfKind<Kind extends BatchCalibration['kind']> = { round: number } & Extract<BatchCalibration, { kind: Kind }>;

const hitHelp =
  'What was predicted of the batch of each round and what came out: the mean predicted probability of a hit, with the standard deviation that ' +
  'the share of hits then has, √(Σ p (1 − p)) / n, and the share of hits. Choosing the largest predictions picks those that are too high, so a share ' +
  'below the prediction is common.';
const valueHelp =
  'Which share of the labels of each batch lies within 1 and 1.96 standard deviations of the prediction (members and noise together). Gaussian predictions ' +
  'that are right give 68.3 % and 95 %.';

/** Predictions of the chosen batches against their labels, over the rounds. */
export function calibrationFigure({ choices }: Pick<DiscoveryView, 'choices'>): CalibrationFigure {
  const ofHits = choices.flatMap(({ round, calibration }) =>
    calibration?.kind === 'hits' ? [{ round, ...calibration }] : [],
  );
  if (ofHits.length > 0) return hitFigure(ofHits);
  return valueFigure(
    choices.flatMap(({ round, calibration }) => (calibration?.kind === 'values' ? [{ round, ...calibration }] : [])),
  );
}

function hitFigure(rounds: OfKind<'hits'>[]): CalibrationFigure {
  const x = rounds.map(({ round }) => round);
  const predicted = rounds.map((own) => own.predicted);
  const observed = rounds.map((own) => own.observed);
  return {
    yLabel: 'probability of a hit',
    help: hitHelp,
    groups: [
      {
        label: 'predicted',
        symbol: 'ring',
        color: 'rank-0',
        ids: x,
        x,
        y: predicted,
        errors: rounds.map(({ error }) => error),
      },
      { label: 'came out', symbol: 'cross', color: 'text', ids: x, x, y: observed },
    ],
    lines: [
      { label: 'predicted', color: 'rank-0', isThin: true, x, y: predicted },
      { label: 'came out', color: 'text', isThin: true, x, y: observed },
    ],
  };
}

function valueFigure(rounds: OfKind<'values'>[]): CalibrationFigure {
  const x = rounds.map(({ round }) => round);
  const ends = [x[0] - 0.5, x[x.length - 1] + 0.5];
  const shares = [
    { key: 'within68', label: 'within 1 deviation', color: 'rank-0', symbol: 'ring' },
    { key: 'within95', label: 'within 1.96 deviations', color: 'rank-1', symbol: 'cross' },
  ] as const;
  return {
    yLabel: 'share of labels',
    help: valueHelp,
    groups: shares.map(({ key, label, color, symbol }) => ({
      label,
      color,
      symbol,
      ids: x,
      x,
      y: rounds.map((own) => own[key]),
    })),
    lines: shares.flatMap(({ key, label, color }): PlotLine[] => [
      { label, color, isThin: true, x, y: rounds.map((own) => own[key]) },
      {
        label: `${Number((100 * nominalShares[key]).toPrecision(3))} %`,
        color,
        dash: '5 4',
        x: ends,
        y: [nominalShares[key], nominalShares[key]],
      },
    ]),
  };
}
