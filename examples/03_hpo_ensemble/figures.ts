import {
  band,
  BLUE,
  figure,
  type Figure,
  line,
  type Mark,
  type Panel,
  points,
  verticalLine,
  VERMILLION,
} from 'tutti-ensembles';
import { type Aim, bestTrial, errorOf, meanOf } from './choices.ts';
import type { WeightDecayTrial } from './study.ts';

const looks = {
  ensemble: { color: BLUE, name: 'ensemble' },
  meanMember: { color: VERMILLION, name: 'members' },
} as const;

/** The best trials so far, and the MSE over the weight decay with standard errors over the splits. */
export function weightDecayFigure(table: string, members: number, trials: readonly WeightDecayTrial[]): Figure {
  const panels = [bestSoFar(trials), overWeightDecay(trials)];
  const title = `${members} networks on the UCI table ${table}: weight decay for the ensemble or for its members`;
  return figure({ title, width: 1000, height: 400, rows: 1, columns: 2, panels });
}

/** The ensemble's MSE with the best weight decay so far, if the ensemble or its members decide which one is best. */
function bestSoFar(trials: readonly WeightDecayTrial[]): Panel {
  const marks = (['meanMember', 'ensemble'] as const).map((aim) => {
    const best = trials.map((_, last) => bestTrial(trials.slice(0, last + 1), aim));
    return line({
      x: trials.map((_, number) => number + 1),
      y: best.map(({ ensemble }) => meanOf(ensemble)),
      color: looks[aim].color,
      width: 2,
      label: `Chosen for the ${looks[aim].name}`,
    });
  });
  return { title: 'Best so far', xLabel: 'Trials', yLabel: 'MSE of the ensemble', marks };
}

function overWeightDecay(trials: readonly WeightDecayTrial[]): Panel {
  const sorted = trials.toSorted((left, right) => left.weightDecay - right.weightDecay);
  const marks = (['meanMember', 'ensemble'] as const).flatMap((aim) => curve(sorted, aim));
  return {
    title: 'Mean and standard error over the splits; dashed: the best',
    xLabel: 'Weight decay',
    yLabel: 'Validation MSE',
    xScale: 'log',
    marks,
  };
}

function curve(sorted: readonly WeightDecayTrial[], aim: Aim): Mark[] {
  const { color, name } = looks[aim];
  const x = sorted.map(({ weightDecay }) => weightDecay);
  const y = sorted.map((trial) => meanOf(trial[aim]));
  const errors = sorted.map((trial) => errorOf(trial[aim]));
  return [
    band({
      x,
      lower: y.map((value, i) => value - errors[i]),
      upper: y.map((value, i) => value + errors[i]),
      color,
      opacity: 0.15,
    }),
    line({ x, y, color, width: 2, label: aim === 'ensemble' ? 'Ensemble' : 'Mean member' }),
    points({ x, y, color }),
    verticalLine({ x: bestTrial(sorted, aim).weightDecay, color, label: `Best for the ${name}` }),
  ];
}
