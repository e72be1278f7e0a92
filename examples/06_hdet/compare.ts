import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/**
 * The ablation of the paper's table at small scale: `node examples/06_hdet/compare.ts <new folder> [-- options of tutti train]`. Trains six times
 * and prints a table.
 */

const tutti = join(import.meta.dirname, '../../src-main/tutti.mjs');
const [runs, ...given] = parseArgs({ allowPositionals: true }).positionals;
if (runs === undefined) throw new Error('Name a new folder for the runs.');

interface RunRecord {
  status: string;
  summary: { evaluatedSets: { set: string; ensemble: Record<string, number> }[] } | null;
}

/** Trains into a new folder and returns its row of the table. A failed run has diverged, which is a result. */
async function train(name: string, folder: string, options: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [tutti, 'train', import.meta.dirname, '--out', folder, ...options, ...given], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await once(child, 'exit');
  const { status, summary } = JSON.parse(await readFile(join(folder, 'run.json'), 'utf8')) as RunRecord;
  const last = summary?.evaluatedSets.find(({ set }) => set === 'final');
  if (last === undefined) return `| ${name} | ${status} | |`;
  const { nll, acc } = last.ensemble;
  return `| ${name} | ${nll.toFixed(3)} | ${(100 * acc).toFixed(1)} % |`;
}

const low = join(runs, 'low');
const warm = [
  '--warm-start.checkpoint',
  join(low, 'checkpoints', 'rank-0', 'final.safetensors'),
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
