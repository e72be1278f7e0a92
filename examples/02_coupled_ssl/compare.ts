import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BLUE, comparisonBars, figure, line, type Mark, saveFigure, VERMILLION } from 'tutti-ensembles';
import { mean, meanWithError, trainSeeds, type TrainedRun } from '../trained-run.ts';

/**
 * Trains the same members coupled and uncoupled, one run after the other, and draws both. With `--repeat 5` it trains
 * five seeds of each, prints means with standard errors and the differences paired by seed, and draws the curves of the
 * first seed.
 * `node examples/02_coupled_ssl/compare.ts <new folder> [--members 4] [--epochs 90] [--network small] [--repeat 1] [-- options of tutti train]`
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    members: { type: 'string', default: '4' },
    epochs: { type: 'string', default: '90' },
    network: { type: 'string', default: 'small' },
    repeat: { type: 'string', default: '1' },
  },
});
const [folder, ...common] = positionals;
if (folder === undefined) throw new Error('Name a new folder for the runs and the figure.');

const coupled = await train('coupled', '1');
const uncoupled = await train('uncoupled', '0');
await draw();
for (const [name, run] of [
  ['coupled', coupled],
  ['uncoupled', uncoupled],
] as const)
  console.log(describe(name, run));
if (coupled.length > 1) console.log(describeDifference());

function train(name: string, couplingWeight: string): Promise<TrainedRun[]> {
  const options = [
    '--members',
    values.members,
    '--max-epochs',
    values.epochs,
    '--strategy.coupling-weight',
    couplingWeight,
    '--set',
    `network=${values.network}`,
    ...common,
  ];
  return trainSeeds(import.meta.dirname, join(folder, name), options, Number(values.repeat));
}

async function draw(): Promise<void> {
  const scores = [coupled, uncoupled].flatMap((runs) =>
    ['acc', 'nll', 'ece'].map((metric) => mean(scoresOf(runs, metric))),
  );
  const panels = [
    {
      xLabel: 'Epoch',
      yLabel: 'Validation accuracy',
      marks: [...curves(coupled[0], BLUE, 'Coupled'), ...curves(uncoupled[0], VERMILLION, 'Uncoupled')],
    },
    comparisonBars({
      label: 'Ensemble on the test images',
      names: ['Accuracy', 'Accuracy', 'NLL', 'NLL', 'ECE', 'ECE'],
      values: [0, 3, 1, 4, 2, 5].map((i) => scores[i]),
      colors: ['Accuracy', 'NLL', 'ECE'].flatMap(() => [BLUE, VERMILLION]),
    }),
  ];
  const title = `${values.members} members on CIFAR-10 with few labels, coupled (blue) or not (orange)`;
  await saveFigure(folder, 'coupled-ssl', figure({ title, width: 1000, height: 400, rows: 1, columns: 2, panels }));
}

/** A bold line for the ensemble, thin lines for its members. */
function curves(run: TrainedRun, color: string, name: string): Mark[] {
  const members = Array.from({ length: Number(values.members) }, (_, rank) => run.series(`val/member_${rank}_acc`));
  const ensemble = run.series('val/ens_acc');
  return [
    ...members.map((member) => line({ x: member.epochs, y: member.values, width: 0.75, color })),
    line({ x: ensemble.epochs, y: ensemble.values, width: 2.5, color, label: `${name}, ensemble` }),
  ];
}

/** A metric of the ensemble on the test images, for each seed. */
function scoresOf(runs: readonly TrainedRun[], metric: string): number[] {
  return runs.map(({ test }) => test.ensemble[metric]);
}

function describe(name: string, runs: readonly TrainedRun[]): string {
  const show = (metric: string): string => meanWithError(scoresOf(runs, metric));
  const members = meanWithError(runs.map(({ test }) => mean(test.members.acc)));
  const seconds = mean(runs.map((run) => run.seconds)).toFixed(0);
  return (
    `Test, ${name}: accuracy ${show('acc')} (members ${members}), NLL ${show('nll')}, ECE ${show('ece')}, ` +
    `disagreement ${show('disagreement')}; ${seconds} s`
  );
}

/** What a seed does to both alike cancels in the difference. */
function describeDifference(): string {
  const show = (metric: string): string => {
    const others = scoresOf(uncoupled, metric);
    return meanWithError(scoresOf(coupled, metric).map((value, seed) => value - others[seed]));
  };
  return (
    `Coupled − uncoupled, paired by seed (${coupled.length}): accuracy ${show('acc')}, NLL ${show('nll')}, ` +
    `ECE ${show('ece')}`
  );
}
