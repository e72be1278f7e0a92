import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BLUE, figure, INK, line, type Panel, saveFigure, VERMILLION } from 'tutti';

/**
 * Trains the same networks three ways, one run after the other, and draws them: jointly in one process each, jointly in one graph, and
 * independently. `node examples/05_joint_training/compare.ts <new folder> [--members 4] [--epochs 12] [--files t10k]`
 */

const tutti = resolve(import.meta.dirname, '../../src-main/tutti.mjs');

interface TrainedRun {
  seconds: number;
  /** Values of a metric with their step and epoch, in order. */
  series(metric: string): { steps: number[]; epochs: number[]; values: number[] };
  /** Metrics of the last weights on the test split. */
  test: { ensemble: Record<string, number>; members: Record<string, number[]> };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    members: { type: 'string', default: '4' },
    epochs: { type: 'string', default: '12' },
    files: { type: 'string', default: 't10k' },
  },
});
const [folder] = positionals;
if (folder === undefined) throw new Error('Name a new folder for the runs and the figure.');
const { members } = values;
/** Jointly trained, a member's gradient has the factor 1/M: so each moves as if it were trained alone at this rate. */
const ratePerMember = 0.05;
const jointRate = String(ratePerMember * Number(members));

const distributed = await train('distributed', ['--members', members, '--optimizer.learning-rate', jointRate]);
const oneGraph = await train('one-graph', [
  ...['--members', '1', '--strategy', 'independent', '--optimizer.learning-rate', jointRate],
  ...['--set', `expertsPerMember=${members}`],
]);
const independent = await train('independent', [
  ...['--members', members, '--strategy', 'independent'],
  ...['--optimizer.learning-rate', String(ratePerMember)],
]);
await draw();
report();

async function train(name: string, options: readonly string[]): Promise<TrainedRun> {
  const out = join(folder, name);
  const common = ['--max-epochs', values.epochs, '--set', `files=${values.files}`, '--sampler', 'shared', '--out', out];
  const startedMs = performance.now();
  const child = spawn(process.execPath, [tutti, 'train', import.meta.dirname, ...common, ...options], {
    stdio: 'inherit',
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`The ${name} run ended with exit code ${code}; its folder is ${out}.`);
  const seconds = (performance.now() - startedMs) / 1000;
  const record = JSON.parse(await readFile(join(out, 'run.json'), 'utf8')) as {
    summary: { evaluatedSets: ({ set: string } & TrainedRun['test'])[] };
  };
  const test = record.summary.evaluatedSets.find(({ set }) => set === 'final');
  if (test === undefined) throw new Error(`The ${name} run evaluated no last weights; its folder is ${out}.`);
  return { seconds, test, series: await readMetrics(join(out, 'metrics.csv')) };
}

async function readMetrics(path: string): Promise<TrainedRun['series']> {
  const [header, ...lines] = (await readFile(path, 'utf8')).trimEnd().split('\n');
  const names = header.split(',');
  const rows = lines.map((row) => row.split(','));
  return (metric) => {
    const column = names.indexOf(metric);
    const filled = rows.filter((row) => column >= 0 && row[column] !== '');
    const numbers = (index: number) => filled.map((row) => Number(row[index]));
    return { epochs: numbers(names.indexOf('epoch')), steps: numbers(names.indexOf('step')), values: numbers(column) };
  };
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

/** Ensembles bold, each as it predicts: the product of experts, and the mean of probabilities. Members thin. */
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
  const meanAccuracy = ({ test: { members: of } }: TrainedRun) =>
    (of.acc.reduce((sum, accuracy) => sum + accuracy, 0) / of.acc.length).toFixed(4);
  console.log(`
Largest difference of training losses, one graph and distributed: ${apart(0, half)} up to step ${half}, ${apart(half, losses.length)} after.
Test, joint, distributed  ${scores(distributed.test.ensemble, 'product_')}; members' mean accuracy ${meanAccuracy(distributed)}; ${distributed.seconds.toFixed(0)} s
Test, joint, one graph    ${scores(oneGraph.test.ensemble, '')}; ${oneGraph.seconds.toFixed(0)} s
Test, independent         ${scores(independent.test.ensemble, '')}; members' mean accuracy ${meanAccuracy(independent)}; ${independent.seconds.toFixed(0)} s`);
}
