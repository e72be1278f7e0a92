import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { exportRun } from '../../src-main/export/export-run.ts';
import { EarlierMetrics } from '../../src-main/runs/recording/reported-values.ts';
import { MetricsFile } from '../../src-main/store/metrics/metrics-file.ts';
import { createRunFolder } from '../../src-main/store/runs/run-folder.ts';
import { runRecord } from '../unit/store/records.ts';

/**
 * Resumes and exports a run whose `metrics.csv` is larger than V8's longest string (512 MiB), and prints time and
 * memory of each part:
 *
 *     node test/faults/large-metrics.ts --mebibytes 600
 */
const { values } = parseArgs({ options: { mebibytes: { type: 'string', default: '600' } } });
const targetBytes = Number(values.mebibytes) * 2 ** 20;

const folder = await mkdtemp(join(tmpdir(), 'tutti-large-'));
try {
  const run = join(folder, 'run');
  await createRunFolder(run, runRecord());
  const path = join(run, 'metrics.csv');
  const steps = await fill(path, targetBytes);
  console.log(`metrics.csv: ${((await stat(path)).size / 2 ** 20).toFixed(0)} MiB, ${steps} rows`);
  await measure('resume: drop the rows after 90 % of the steps', () =>
    MetricsFile.open(path, { step: Math.floor(0.9 * steps), rows: Infinity }),
  );
  await measure('resume: last and best values', () =>
    EarlierMetrics.read(run, (damage) => console.error(damage.message)),
  );
  const formats = ['csv', 'jsonl', 'tensorboard'] as const;
  await measure('export of CSV, JSON Lines and TensorBoard', () =>
    exportRun(run, { to: join(folder, 'export'), zip: false, formats }),
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function fill(path: string, bytes: number): Promise<number> {
  const file = await open(path, 'w');
  await file.appendFile('epoch,step,train/loss,val/ens_nll,val/member_0_nll,val/member_1_nll\n');
  let [written, step] = [0, 0];
  while (written < bytes) {
    let text = '';
    for (let i = 0; i < 10_000; i += 1, step += 1) {
      const loss = 1 / (step + 1);
      text += `${Math.floor(step / 1000)},${step},${loss},${loss / 3},${loss / 7},${loss / 11}\n`;
    }
    await file.appendFile(text);
    written += text.length;
  }
  await file.close();
  return step;
}

async function measure(what: string, action: () => Promise<unknown>): Promise<void> {
  let peakBytes = 0;
  const timer = setInterval(() => (peakBytes = Math.max(peakBytes, process.memoryUsage.rss())), 20);
  const [startedMs, before] = [performance.now(), process.cpuUsage()];
  await action();
  clearInterval(timer);
  const seconds = (performance.now() - startedMs) / 1000;
  const { user, system } = process.cpuUsage(before);
  const processorSeconds = (user + system) / 1e6;
  console.log(
    `${what}: ${seconds.toFixed(1)} s (${processorSeconds.toFixed(1)} s of processor time), at most ` +
      `${(peakBytes / 2 ** 20).toFixed(0)} MiB of memory`,
  );
}
