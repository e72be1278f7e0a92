import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { z } from 'zod';
import { describeMachine } from '../machine.ts';

/**
 * `node bench/tables/compare.ts --uci <folder> [--only <name>]`: how well the project that `tutti create --from` writes
 * answers, beside scikit-learn's forests and a deep ensemble in PyTorch (`TUTTI_PYTHON` needs torch and scikit-learn).
 * Every table is split five times; all methods get the same rows, one after the other. Measures that are in
 * node_modules/.cache/tutti-tables.json are not taken again, so that the work can be interrupted: remove that file to
 * begin anew.
 * Writes docs/tables-compared.md, and keeps its further sections.
 */

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const page = join(root, 'docs', 'tables-compared.md');
const resultsFile = join(root, 'node_modules', '.cache', 'tutti-tables.json');
const python = process.env.TUTTI_PYTHON ?? 'python3';
const peers = join(root, 'bench', 'peers', 'tables.py');
const seeds = [0, 1, 2, 3, 4];
const methods = {
  tutti: 'Tutti',
  calibrated: 'Tutti, calibrated',
  pytorch: 'PyTorch',
  forest: 'random forest',
  boosting: 'boosting',
};
type Method = keyof typeof methods;

const tableSchema = z.object({ name: z.string(), rows: z.int(), columns: z.int(), isRegression: z.boolean() });
type Listed = z.output<typeof tableSchema>;
const measuresSchema = z.object({ nll: z.number(), score: z.number(), ece: z.number(), seconds: z.number() });
type Measures = z.output<typeof measuresSchema>;
const fittedSchema = z.object({
  tutti: measuresSchema.omit({ seconds: true }),
  calibrated: measuresSchema.omit({ seconds: true }),
  forest: measuresSchema,
  boosting: measuresSchema,
  pytorch: measuresSchema,
});

/** The measures of all methods, one for each seed. */
type Results = Record<Method, Measures[]>;
const comparedSchema = z.object({
  table: tableSchema,
  found: z.record(z.enum(Object.keys(methods) as Method[]), z.array(measuresSchema)),
});
type Compared = z.output<typeof comparedSchema>;

async function compare(uci: string, only: string | undefined): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-tables-'));
  try {
    await run(python, [peers, 'make', folder, uci]);
    const listed = z.array(tableSchema).parse(JSON.parse(await readFile(join(folder, 'tables.json'), 'utf8')));
    const known = await readResults();
    for (const table of listed.filter(({ name }) => only === undefined || name === only)) {
      if (only === undefined && known.some((own) => own.table.name === table.name)) continue;
      const found: Results = { tutti: [], calibrated: [], pytorch: [], forest: [], boosting: [] };
      for (const seed of seeds) {
        const own = join(folder, table.name.replaceAll(' ', '-'), String(seed));
        for (const [name, measures] of Object.entries(await measure(folder, own, table)))
          found[name as Method].push(measures);
      }
      console.log(rowsOf({ table, found }).join('\n'));
      known.splice(0, Infinity, ...known.filter((own) => own.table.name !== table.name), { table, found });
      await writeFile(resultsFile, `${JSON.stringify(known, null, 1)}\n`);
    }
    const results = listed.flatMap(({ name }) => known.filter(({ table }) => table.name === name));
    if (results.length === listed.length) {
      const [, ...byHand] = (await readFile(page, 'utf8')).split(/^(?=## )/m);
      await writeFile(page, [pageOf(results), ...byHand].join('\n'));
    } else console.log(`${page} is written once all ${listed.length} tables are compared.`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readResults(): Promise<Compared[]> {
  const text = await readFile(resultsFile, 'utf8').catch(() => '[]');
  return z.array(comparedSchema).parse(JSON.parse(text));
}

/** Trains on `train.csv` and predicts `test.csv`, with Tutti and then with the peers. */
async function measure(home: string, own: string, { isRegression }: Listed): Promise<Record<Method, Measures>> {
  const project = join(own, 'project');
  const tutti = (...args: string[]) =>
    run(process.execPath, [join(root, 'src-main', 'tutti.mjs'), ...args], {
      env: { ...process.env, TUTTI_HOME: home, TUTTI_TRUST: home },
      maxBuffer: 2 ** 28,
    });
  const startedMs = performance.now();
  // Without it, targets that are few whole numbers, such as the grades of wines, would be asked about.
  const task = isRegression ? 'heteroscedastic-regression' : 'classification';
  await tutti('create', project, '--from', join(own, 'train.csv'), '--target', 'y', '--task', task);
  await keepNoTest(join(project, 'project.ts'));
  await tutti('train', project, '--name', own, '--json');
  await tutti('predict', own, '--input', join(own, 'test.csv'), '--output', join(own, 'tutti.csv'));
  const seconds = (performance.now() - startedMs) / 1000;
  await tutti('calibrate', own, '--calibration-share', '1');
  await tutti('predict', own, '--input', join(own, 'test.csv'), '--output', join(own, 'calibrated.csv'));
  const calibratedSeconds = (performance.now() - startedMs) / 1000;
  await writeFile(join(own, 'task.json'), JSON.stringify({ isRegression }));
  const { stdout } = await run(python, [peers, 'fit', own]);
  const fitted = fittedSchema.parse(JSON.parse(stdout));
  return {
    ...fitted,
    tutti: { ...fitted.tutti, seconds },
    calibrated: { ...fitted.calibrated, seconds: calibratedSeconds },
  };
}

/** The rows that test are in another file. */
async function keepNoTest(file: string): Promise<void> {
  const source = await readFile(file, 'utf8');
  const changed = source.replace('test: 0.2', 'test: 0');
  if (changed === source) throw new Error(`${file} sets aside no test split of 0.2.`);
  await writeFile(file, changed);
}

function rowsOf({ table, found }: Compared): string[] {
  const names = Object.keys(methods) as Method[];
  const nlls = names.map((name) => meanOf(found[name].map(({ nll }) => nll)));
  return names.map((name, i) => {
    const of = (key: keyof Measures) => found[name].map((own) => own[key]);
    const nll = `${nlls[i].toFixed(3)} ± ${errorOf(of('nll')).toFixed(3)}`;
    const title = i === 0 ? `${table.name} (${table.rows} × ${table.columns})` : '';
    const score = meanOf(of('score'));
    return `| ${[
      title,
      methods[name],
      nlls[i] === Math.min(...nlls) ? `**${nll}**` : nll,
      table.isRegression ? `RMSE ${score.toPrecision(3)}` : `${(100 * score).toFixed(1)} %`,
      `${(100 * meanOf(of('ece'))).toFixed(1)} %`,
      meanOf(of('seconds')).toFixed(1),
    ].join(' | ')} |`;
  });
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Standard error of the mean. */
function errorOf(values: readonly number[]): number {
  const mean = meanOf(values);
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1) / values.length);
}

function pageOf(results: readonly Compared[]): string {
  const lowest = (own: Results): Method =>
    (Object.keys(methods) as Method[]).reduce((a, b) =>
      meanOf(own[b].map(({ nll }) => nll)) < meanOf(own[a].map(({ nll }) => nll)) ? b : a,
    );
  const wins = (Object.keys(methods) as Method[]).map(
    (name) => `${methods[name]} ${results.filter(({ found }) => lowest(found) === name).length}`,
  );
  const { cpu } = describeMachine();
  return `# The project from a table, compared

Written by \`node bench/tables/compare.ts\`. Each table is split five times; a fifth of the rows tests. All methods learn
from the same rows, with their defaults: nothing was tuned on these tables. Numbers are means of the five splits.

- **Tutti**: the project that \`tutti create --from\` writes, unchanged but for the test split, which lies in another
  file. A fifth of the rows that it gets decides when the five members stop.
- **Tutti, calibrated**: the same run after \`tutti calibrate <run> --calibration-share 1\`. It learns from the same fifth
  by what the deviations, or the certainty of the classes, are too large or too small, and keeps that only where
  it clearly helps. Dropout makes the deviations of smooth tables too large, which this corrects.
- **PyTorch**: five networks of the same size, one after the other, with the same optimizer and the same rule to stop.
- **random forest**: scikit-learn's, with 500 trees; **boosting**: its \`HistGradientBoosting\`, which stops early on a
  fifth of the rows. Of a regression they give no variance: it is that of the errors on rows that they did not learn
  from, which makes up for wrong deviations as a calibration does.

NLL is in nats, in the unit of the target, with the standard error of the mean; **bold** is the lowest. The second
measure is the accuracy, or the RMSE in the unit of the target. ECE has 15 bins; of a regression it is the mean
difference between the share of targets in the central intervals of 10 % to 90 % and their levels. Seconds are those of
one split, in turns on a machine (${cpu}) that did other work beside: only their ratios
mean something, and these roughly. Those of Tutti are whole commands with the start of their processes on two cores,
those of the others the fit and the predictions alone, of networks on one core.

How often each has the lowest NLL: ${wins.join('; ')}.

| table (rows × columns) | method | NLL | accuracy or RMSE | ECE | seconds |
| --- | --- | --- | --- | --- | --- |
${results.flatMap((own) => rowsOf(own)).join('\n')}
`;
}

const { values } = parseArgs({ options: { uci: { type: 'string' }, only: { type: 'string' } } });
if (values.uci === undefined) throw new Error('Name the folder of the UCI tables: --uci <folder>.');
await compare(values.uci, values.only);
