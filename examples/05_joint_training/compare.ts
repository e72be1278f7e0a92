import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BLUE, figure, INK, line, type Panel, saveFigure, VERMILLION } from 'tutti-ensembles';
import { mean, trainRun, type TrainedRun } from '../trained-run.ts';

/**
 * Trains the same networks three ways, one run after the other, and draws them: jointly in separate processes, jointly
 * in one graph, and independently.
 * `node examples/05_joint_training/compare.ts <new folder> [--members 4] [--epochs 12] [--files t10k] [-- options of tutti train]`
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    members: { type: 'string', default: '4' },
    epochs: { type: 'string', default: '12' },
    files: { type: 'string', default: 't10k' },
  },
});
const [folder, ...given] = positionals;
if (folder === undefined) throw new Error('Name a new folder for the runs and the figure.');
const { members } = values;
/**
 * Rate of independent training. A member's gradient has the factor 1/M in joint training, so the joint rate is M times
 * this.
 */
const ratePerMember = 0.05;
const jointRate = String(ratePerMember * Number(members));

const distributed = await train('distributed', ['--members', members, '--optimizer.learning-rate', jointRate]);
const oneGraph = await train('one-graph', [
  '--members',
  '1',
  '--strategy',
  'independent',
  '--optimizer.learning-rate',
  jointRate,
  '--set',
  `expertsPerMember=${members}`,
]);
const independent = await train('independent', [
  '--members',
  members,
  '--strategy',
  'independent',
  '--optimizer.learning-rate',
  String(ratePerMember),
]);
await draw();
report();

function train(name: string, options: readonly string[]): Promise<TrainedRun> {
  const common = ['--max-epochs', values.epochs, '--set', `files=${values.files}`, '--sampler', 'shared'];
  return trainRun(import.meta.dirname, join(folder, name), [...common, ...options, ...given]);
}

async function draw(): Promise<void> {
  const loss = (run: TrainedRun) => run.series('train/member_0_loss');
  const panels: Panel[] = [
    {
      title: 'The same training, in one graph or distributed',
      xLabel: 'Step',
      yLabel: 'Training loss of the product of experts',
      marks: [
        line({ x: loss(oneGraph).steps, y: loss(oneGraph).values, width: 4, color: '#99c7e0', label: 'One graph' }),
        line({ x: loss(distributed).steps, y: loss(distributed).values, width: 1, color: INK, label: 'Distributed' }),
      ],
    },
    comparison('NLL', 'nll'),
    comparison('Accuracy', 'acc'),
  ];
  const title = `${members} small networks on MNIST, trained jointly or independently`;
  await saveFigure(folder, 'joint-training', figure({ title, width: 1140, height: 380, rows: 1, columns: 3, panels }));
}

/** Bold lines for the ensembles' predictions (product of experts or mean of probabilities), thin lines for members. */
function comparison(label: string, metric: string): Panel {
  const curves = (run: TrainedRun, ensemble: string, color: string, name: string) => [
    ...Array.from({ length: Number(members) }, (_, rank) => run.series(`val/member_${rank}_${metric}`)).map(
      (member, rank) =>
        line({
          x: member.epochs,
          y: member.values,
          width: 0.75,
          color,
          ...(rank === 0 && { label: `${name}, members` }),
        }),
    ),
    line({
      x: run.series(ensemble).epochs,
      y: run.series(ensemble).values,
      width: 2.5,
      color,
      label: `${name}, ensemble`,
    }),
  ];
  return {
    xLabel: 'Epoch',
    yLabel: `Validation ${label}`,
    ...(metric === 'nll' && { yScale: 'log' as const }),
    marks: [
      ...curves(distributed, `val/product_${metric}`, BLUE, 'Joint'),
      ...curves(independent, `val/ens_${metric}`, VERMILLION, 'Independent'),
    ],
  };
}

function report(): void {
  const single = oneGraph.series('train/member_0_loss').values;
  const losses = distributed.series('train/member_0_loss').values;
  const half = Math.floor(losses.length / 2);
  const apart = (from: number, to: number) =>
    Math.max(...losses.slice(from, to).map((loss, i) => Math.abs(loss - single[from + i]))).toExponential(1);
  const scores = (ensemble: Record<string, number>, prefix: string) =>
    `NLL ${ensemble[`${prefix}nll`].toFixed(4)}, accuracy ${ensemble[`${prefix}acc`].toFixed(4)}`;
  const meanAccuracy = (run: TrainedRun) => mean(run.test.members.acc).toFixed(4);
  console.log(`
Largest difference of training losses, one graph and distributed: ${apart(0, half)} up to step ${half}, ${apart(half, losses.length)} after.
Test, joint, distributed  ${scores(distributed.test.ensemble, 'product_')}; members' mean accuracy ${meanAccuracy(distributed)}; ${distributed.seconds.toFixed(0)} s
Test, joint, one graph    ${scores(oneGraph.test.ensemble, '')}; ${oneGraph.seconds.toFixed(0)} s
Test, independent         ${scores(independent.test.ensemble, '')}; members' mean accuracy ${meanAccuracy(independent)}; ${independent.seconds.toFixed(0)} s`);
}
