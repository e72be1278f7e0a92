import { hash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fuzzInThread } from './engine/watch.ts';
import type { ThreadReport } from './engine/thread.ts';
import { allTargets } from './targets/index.ts';

/**
 * `npm run fuzz`: mutated inputs for every reader of files, frames, calls and arguments, guided by the branches that
 * they reach. Prints a table, keeps the input of each finding in `test/fuzz/findings/`, and exits with 1 if there is
 * any.
 */
const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    targets: { type: 'string' },
  },
});
const findingsFolder = join(import.meta.dirname, 'findings');
const names = values.targets?.split(',');
const chosen = (await allTargets()).filter(({ target }) => names?.includes(target.name) ?? true);
const weights = chosen.reduce((sum, { target }) => sum + target.weight, 0);

let [total, found] = [0, 0];
console.log('target                cases   corpus  branches  seconds  findings');
for (const { group, target } of chosen) {
  const cases = Math.ceil((Number(values.cases) * target.weight) / weights);
  const startedMs = performance.now();
  const report = await fuzzInThread({ group, target: target.name, cases, seed: Number(values.seed) });
  const seconds = (performance.now() - startedMs) / 1000;
  const numbers = [report.cases, report.corpus, report.reached, seconds.toFixed(1), report.findings.length];
  console.log([target.name.padEnd(18), ...numbers.map((number) => String(number).padStart(8))].join(' '));
  for (const finding of report.findings) await keep(target.name, finding);
  total += report.cases;
  found += report.findings.length;
}
console.log(`${total} cases, ${found} findings, seed ${values.seed}`);
process.exitCode = found > 0 ? 1 : 0;

/** Keeps and prints a finding. */
async function keep(target: string, { kind, message, bytes }: ThreadReport['findings'][number]): Promise<void> {
  const name = `${hash('sha256', bytes, 'hex').slice(0, 12)}.bin`;
  await mkdir(join(findingsFolder, target), { recursive: true });
  await writeFile(join(findingsFolder, target, name), bytes);
  console.log(`  ${kind}: ${message}\n  input: test/fuzz/findings/${target}/${name} (${bytes.length} bytes)`);
}
