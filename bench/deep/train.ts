import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTrainCommand } from '../command.ts';
import { median } from '../figures.ts';

const project = join(import.meta.dirname, '..', 'projects', 'deep');

/** What the rank that needs most memory needs, and the time of a step. */
export interface Training {
  /** Of the backend. It never shrinks, so its last size is its peak. */
  heapBytes: number;
  /** Resident memory of the process after a step. */
  residentBytes: number;
  /** The largest so far, with the start of the process. */
  peakBytes: number;
  /** Median of all ranks' steps but the first; NaN without others. */
  stepMs: number;
  /**
   * The shortest step of rank 0 but the first: other programs only add time. A pipeline begins with rank 0, so that its
   * delays are in its steps.
   */
  fastestStepMs: number;
}

/** Trains the deep network, and reads what the ranks wrote to their logs after each step. */
export async function trainDeep(args: readonly string[]): Promise<Training> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-bench-'));
  const run = join(folder, 'run');
  try {
    await runTrainCommand([project, ...args, '--out', run]);
    const logs = (await readdir(join(run, 'logs'))).sort();
    const ranks = await Promise.all(logs.map(async (name) => readLog(await readFile(join(run, 'logs', name), 'utf8'))));
    const lines = ranks.flat();
    if (lines.length === 0) throw new Error(`No rank of ${run} wrote its memory to its log.`);
    const ofRanks = ranks.map((rank) => rank.slice(1).map(({ afterMs }, i) => afterMs - rank[i].afterMs));
    const stepsMs = ofRanks.flat();
    return {
      heapBytes: Math.max(...lines.map((line) => line.heapBytes)),
      residentBytes: Math.max(...lines.map((line) => line.residentBytes)),
      peakBytes: Math.max(...lines.map((line) => line.peakBytes)),
      stepMs: stepsMs.length === 0 ? NaN : median(stepsMs),
      fastestStepMs: Math.min(...ofRanks[0]),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function readLog(text: string) {
  const pattern = /heap of (\d+) bytes, resident (\d+) bytes, at most (\d+) bytes, after ([\d.]+) ms/g;
  return Array.from(text.matchAll(pattern), ([, ...numbers]) => {
    const [heapBytes, residentBytes, peakBytes, afterMs] = numbers.map(Number);
    return { heapBytes, residentBytes, peakBytes, afterMs };
  });
}
