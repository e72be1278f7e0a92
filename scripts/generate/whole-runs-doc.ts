/** Writes the sections of docs/references.md about whole runs: `npm run docs:whole-runs`. Takes a minute. */
import { float32Errors } from '../../test/unit/joint/experts.ts';
import { jointForms, seeds } from '../../test/unit/joint/joint-forms.ts';
import { firstStepsError, laterStepsError } from '../../test/unit/joint/joint-in-memory.ts';
import { startBoth } from '../../test/unit/backends/op-matrix/start.ts';
import { families, type Family, readFamily, type RecordedRun } from '../../test/unit/whole-runs/recorded-runs.ts';
import { errorOf, formsOf, type RunError, trainRun } from '../../test/unit/whole-runs/train-run.ts';
import { tf } from '../../workers/tensorflow/tf.ts';
import { writeReferenceSection } from './references-doc.ts';

const backends = ['wasm', 'cpu'] as const;

const wholeRuns = `Runs of 100 steps, simulated by PyTorch in float64 from the strategies' definitions (\`test/golden/whole-runs/generator/\`): losses of all
steps and all ranks, and weights after 1, 10, 50 and 100 steps. Errors are the largest |a − b| over all of them, over the forms that must give
the same result and over the backends ${backends.join(' and ')}. The tests allow ten times the error of PyTorch in float32 plus 1e-6. Runs with at most twice
that error, both rounded to one digit, are listed by strategy, ranks and forms; the others are in the table, with PyTorch's error in brackets.
`;

const jointGolden = `Ten experts on digits, batches of 100, SGD at a rate of 0.5 with momentum 0.9, against PyTorch in float64
(\`test/golden/joint/make_joint_golden.py\`), on wasm: the losses of the first 50 steps and then, as rounding errors grow, single steps from
PyTorch's weights and velocities. The error of PyTorch in float32 stands in brackets.

| Form | Seed | Error of losses, steps 1 to 50 | Error of later losses | Error of later weights |
| --- | --- | --- | --- | --- |
`;

await startBoth('wasm', 'cpu');
const runs: Measured[] = [];
for (const family of families) for (const run of readFamily(family)) runs.push(await measure(family, run));
writeReferenceSection('Whole runs', [wholeRuns, ...describeRuns(runs)].join('\n'));

await tf.setBackend('wasm');
const joint: string[] = [];
for (const form of jointForms) for (const seed of seeds) joint.push(await jointRow(seed, form));
writeReferenceSection('Joint training of ten experts', jointGolden + joint.join('\n'));
// The wasm backend's threads would keep the process alive.
process.exit();

interface Measured {
  /** Strategy, ranks and forms. */
  group: string;
  name: string;
  /** Errors of losses and of weights, each with PyTorch's. */
  errors: (readonly [own: string, peer: string])[];
}

async function measure(family: Family, run: RecordedRun): Promise<Measured> {
  const forms = formsOf(family, run);
  const errors: RunError[] = [];
  for (const backend of backends) {
    await tf.setBackend(backend);
    for (const form of forms) errors.push(errorOf(run, await trainRun(run, form)));
  }
  const largest = (which: keyof RunError): string => render(Math.max(...errors.map((error) => error[which])));
  const names = forms.map(({ name }) => name).join(', ');
  const { loss, weight } = run.float32;
  return {
    group: `**${family}**, ${run.config.members} ranks (${names})`,
    name: run.name,
    errors: [
      [largest('loss'), render(loss)],
      [largest('weight'), render(weight)],
    ],
  };
}

function describeRuns(measured: readonly Measured[]): string[] {
  const isNear = ({ errors }: Measured): boolean => errors.every(([own, peer]) => Number(own) <= 2 * Number(peer));
  const groups = Map.groupBy(measured.filter(isNear), ({ group }) => group);
  const others = measured.filter((run) => !isNear(run));
  const cells = others.map(({ group, name, errors }) => [
    `${group}: ${name}`,
    ...errors.map(([own, peer]) => `${own} (${peer})`),
  ]);
  const table = [['Run', 'Error of losses', 'Error of weights'], ['---', '---', '---'], ...cells];
  return [
    ...[...groups].map(([group, runs]) => `- ${group}: ${runs.map(({ name }) => name).join('; ')}`),
    '',
    ...table.map((row) => `| ${row.join(' | ')} |`),
  ];
}

async function jointRow(seed: number, form: (typeof jointForms)[number]): Promise<string> {
  const first = await firstStepsError(seed, form);
  const later = await laterStepsError(seed, form);
  const single = float32Errors(seed);
  const errors = [
    [first, single.firstSteps],
    [later.loss, single.laterLoss],
    [later.weight, single.laterWeight],
  ];
  const cells = errors.map(([own, peer]) => `${render(own)} (${render(peer)})`);
  return `| ${[form.form, seed, ...cells].join(' | ')} |`;
}

function render(error: number): string {
  return error === 0 ? '0' : error.toExponential(0);
}
