import {
  BLUE,
  comparisonBars,
  type FigureContext,
  figure,
  formatSignificant,
  INK,
  learningCurves,
  type Panel,
} from 'tutti-ensembles';

type Context = FigureContext<unknown>;
type EvaluatedSet = Context['evaluatedSets'][number];

const metrics = [
  { name: 'nll', label: 'NLL' },
  { name: 'acc', label: 'Accuracy' },
  { name: 'ece', label: 'ECE' },
] as const;

/**
 * Draws validation curves above and, below, the scores of members and ensemble on the test split with either set of
 * checkpoints.
 */
export async function drawComparison(context: Context): Promise<void> {
  const { evaluatedSets, config } = context;
  const memberBest = evaluatedSets.find(({ set }) => set === 'member-best');
  const ensembleBest = evaluatedSets.find(({ set }) => set === 'ensemble-best');
  if (memberBest === undefined || ensembleBest === undefined) {
    context.print('No comparison was drawn: it needs checkpoints.memberBest and checkpoints.ensembleBest.');
    return;
  }
  context.print(gainOfJointStopping(memberBest, ensembleBest));
  const panels = [
    ...metrics.map(({ name, label }) => curves(context, name, label, memberBest, ensembleBest)),
    ...metrics.map(({ name, label }) => comparison(name, label, memberBest, ensembleBest)),
  ];
  const title = `Joint early stopping on CIFAR-10, ${config.members} members`;
  await context.save('joint-early-stopping', figure({ title, width: 1140, height: 640, rows: 2, columns: 3, panels }));
}

/** All three panels mark the epochs chosen by the NLL, because the figure compares those epochs below. */
function curves(
  { history, config }: Context,
  metric: string,
  label: string,
  memberBest: EvaluatedSet,
  ensembleBest: EvaluatedSet,
): Panel {
  const series = (owner: string) => history.get(`val/${owner}_${metric}`);
  return learningCurves({
    label: `Validation ${label}`,
    epochs: (series('ens')?.epochs ?? []).map(countedFromOne),
    members: Array.from({ length: config.members }, (_, rank) => series(`member_${rank}`)?.values ?? []),
    ensemble: series('ens')?.values ?? [],
    best: {
      members: memberBest.epochs.map(countedFromOne),
      ensemble: countedFromOne(ensembleBest.epochs[0]),
    },
    legend: metric === 'nll' ? 'auto' : 'none',
  });
}

/** Pale bars for the average member, solid ones for the ensemble; black if the ensemble's optimum chose the epoch. */
function comparison(metric: string, label: string, memberBest: EvaluatedSet, ensembleBest: EvaluatedSet): Panel {
  return comparisonBars({
    label: `${memberBest.split === 'test' ? 'Test' : 'Validation'} ${label}`,
    names: ['Avg member\n(member-best)', 'Ensemble\n(member-best)', 'Avg member\n(ens-best)', 'Ensemble\n(ens-best)'],
    values: [memberBest, ensembleBest].flatMap(({ members, ensemble }) => [mean(members[metric]), ensemble[metric]]),
    colors: ['#99c7e0', BLUE, '#b3b3b3', INK],
  });
}

function gainOfJointStopping(memberBest: EvaluatedSet, ensembleBest: EvaluatedSet): string {
  const changes = metrics.map(({ name, label }) => {
    const change = ensembleBest.ensemble[name] - memberBest.ensemble[name];
    return `${label} ${change > 0 ? '+' : ''}${formatSignificant(change, 2)}`;
  });
  return `Ensemble (ens-best) against ensemble (member-best), ${memberBest.split}: ${changes.join(', ')}`;
}

/** Epochs, counted as in the terminal. */
function countedFromOne(epoch: number): number {
  return epoch + 1;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
