import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BLUE, comparisonBars, figure, line, type Mark, saveFigure, VERMILLION } from 'tutti-ensembles';
import { mean, trainRun, type TrainedRun } from '../trained-run.ts';

/**
 * Trains the same members coupled and uncoupled, one run after the other, and draws both.
 * `node examples/02_coupled_ssl/compare.ts <new folder> [--members 4] [--epochs 90] [--network small] [-- options of tutti train]`
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    members: { type: 'string', default: '4' },
    epochs: { type: 'string', default: '90' },
    network: { type: 'string', default: 'small' },
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

function train(name: string, couplingWeight: string): Promise<TrainedRun> {
  return trainRun(import.meta.dirname, join(folder, name), [
    '--members',
    values.members,
    '--max-epochs',
    values.epochs,
    '--strategy.coupling-weight',
    couplingWeight,
    '--set',
    `network=${values.network}`,
    ...common,
  ]);
}

async function draw(): Promise<void> {
  const scores = [coupled, uncoupled].flatMap(({ test: { ensemble } }) => [ensemble.acc, ensemble.nll, ensemble.ece]);
  const panels = [
    {
      xLabel: 'Epoch',
      yLabel: 'Validation accuracy',
      marks: [...curves(coupled, BLUE, 'Coupled'), ...curves(uncoupled, VERMILLION, 'Uncoupled')],
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

function describe(name: string, { test: { ensemble, members }, seconds }: TrainedRun): string {
  const accuracy = `accuracy ${ensemble.acc.toFixed(3)} (members ${mean(members.acc).toFixed(3)})`;
  const disagreement = `disagreement ${ensemble.disagreement.toFixed(3)}`;
  return `Test, ${name}: ${accuracy}, NLL ${ensemble.nll.toFixed(3)}, ECE ${ensemble.ece.toFixed(3)}, ${disagreement}; ${seconds.toFixed(0)} s`;
}
