import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { meanWithError, seedFolders } from '../trained-run.ts';

/**
 * The ablation of the paper's table at small scale:
 * `node examples/06_hdet/compare.ts <new folder> [--repeat 5] [-- options of tutti train]`. Trains six times, or with
 * `--repeat` six times with each of several seeds, and prints a table with means and standard errors.
 */

const tutti = join(import.meta.dirname, '../../src-main/tutti.mjs');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { repeat: { type: 'string', default: '1' } },
});
const [runs, ...given] = positionals;
const repeat = Number(values.repeat);
if (runs === undefined) throw new Error('Name a new folder for the runs.');

interface RunRecord {
  status: string;
  summary: { evaluatedSets: { set: string; ensemble: Record<string, number> }[] } | null;
}

/**
 * Trains into a new folder and returns its row of the table. A failed run has diverged, which is a result: it is
 * counted, and not averaged.
 */
async function train(name: string, folder: string, options: readonly string[]): Promise<string> {
  const seeds = repeat === 1 ? [] : ['--repeat', String(repeat)];
  const all = ['train', import.meta.dirname, '--out', folder, ...options, ...seeds, ...given];
  const child = spawn(process.execPath, [tutti, ...all], { stdio: ['ignore', 'ignore', 'inherit'] });
  await once(child, 'exit');
  const records = await Promise.all(seedFolders(folder, repeat).map(readRecord));
  const scores = records.flatMap((record) => record?.summary?.evaluatedSets.find(({ set }) => set === 'final') ?? []);
  const failed = records.length - scores.length;
  if (scores.length === 0) return `| ${name} | ${records[0]?.status ?? 'not trained'} | |`;
  const nll = meanWithError(scores.map(({ ensemble }) => ensemble.nll));
  const accuracy = meanWithError(
    scores.map(({ ensemble }) => 100 * ensemble.acc),
    1,
  );
  return `| ${name} | ${nll} | ${accuracy} % |${failed === 0 ? '' : ` (${failed} of ${repeat} failed)`}`;
}

/** Null for a run that did not begin: after failures in a row no more do. */
async function readRecord(folder: string): Promise<RunRecord | null> {
  const path = join(folder, 'run.json');
  return existsSync(path) ? (JSON.parse(await readFile(path, 'utf8')) as RunRecord) : null;
}

const low = join(runs, 'low');
const warm = [
  '--warm-start.checkpoint',
  // Each seed begins with the weights of the same seed: those of another one have seen some of its test images.
  join(repeat === 1 ? low : join(low, 'seed-{index}'), 'checkpoints', 'rank-0', 'final.safetensors'),
  '--warm-start.noise',
  '0.1',
];
const rows: [name: string, folder: string, options: string[]][] = [
  ['low rate, data-parallel', low, ['--strategy', 'data-parallel', '--optimizer.learning-rate', '0.02']],
  ['high rate without spread', join(runs, 'high'), ['--strategy.spread', '0']],
  ['high rate, warm start only', join(runs, 'warm'), ['--strategy.spread', '0', ...warm]],
  ['HDET without auto-lr', join(runs, 'without-adapting'), ['--strategy.adapt', 'false', ...warm]],
  ['HDET without warm start', join(runs, 'cold'), []],
  ['HDET', join(runs, 'full'), warm],
];

console.log('| run | test NLL | test accuracy |\n| --- | --- | --- |');
for (const [name, folder, options] of rows) console.log(await train(name, folder, options));
console.log(`\nThe runs are in ${runs}.`);
