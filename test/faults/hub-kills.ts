/**
 * Kills hubs with SIGKILL at random moments and measures how long their workers live on, and how many reported steps a
 * resume loses: `node test/faults/hub-kills.ts [kills] [kinds of runs, separated by commas]`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import type { RunConfigInput } from '../../core/protocol/run/config.ts';
import { findResumePoint } from '../../src-main/store/runs/resume-point.ts';
import { Generator } from '../../workers/random/index.ts';
import { isRunning, projectFolder } from '../integration/harness.ts';

const kills = Number(process.argv[2] ?? 40);
const random = new Generator(1, 'hub-kills');
const base: RunConfigInput = {
  members: 2,
  devices: 2,
  maxEpochs: 1_000_000,
  evaluateEveryEpochs: 10,
  logEverySteps: 1,
  hyperparameters: { samples: 3000 },
  checkpoints: { stateEverySeconds: 60 },
};
const allKinds: [string, string, RunConfigInput][] = [
  ['independent', 'blobs', base],
  ['stacked', 'blobs', { ...base, devices: 1, membersPerDevice: 2 }],
  ['joint', 'blobs', { ...base, strategy: { kind: 'joint', mode: 'reduce' } }],
  ['pipelined', 'blobs', { ...base, strategy: { kind: 'joint', mode: 'pipelined' } }],
  ['data-parallel', 'blobs', { ...base, strategy: { kind: 'data-parallel' } }],
  ['sharded', 'blobs', { ...base, strategy: { kind: 'sharded' } }],
  ['pipeline', 'blobs', { ...base, strategy: { kind: 'pipeline', microBatches: 2 } }],
  ['hdet', 'blobs', { ...base, strategy: { kind: 'hdet', spread: 0.3, averageEverySteps: 5, adapt: false } }],
  ['broadcast', 'blobs', { ...base, data: { mode: 'broadcast' } }],
  ['endless loop', 'faulty', { members: 2, devices: 2, hyperparameters: { fault: 'loop', atStep: 0 } }],
];

const wanted = process.argv[3]?.split(',') ?? allKinds.map(([name]) => name);
const kinds = allKinds.filter(([name]) => wanted.includes(name));

interface Line {
  pid?: number;
  reportedStep?: number;
  state?: string;
}

/** @returns milliseconds until all workers were gone, and the reported steps that a resume loses */
async function kill(
  folder: string,
  project: string,
  config: RunConfigInput,
): Promise<{ goneMs: number; lost: number }> {
  const entry = join(import.meta.dirname, '../integration/lifecycle/hub-process.ts');
  const args = [entry, projectFolder(project), folder, JSON.stringify(config)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const pids = new Set<number>();
  let reported = 0;
  const hasStepped = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on('line', (text) => {
    const { pid, reportedStep = 0, state } = JSON.parse(text) as Line;
    if (pid !== undefined) pids.add(pid);
    reported = Math.max(reported, reportedStep);
    if (reported > 20 || (project === 'faulty' && state === 'training')) hasStepped.resolve();
  });
  await hasStepped.promise;
  await wait(random.uniform() * 1000);
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  const killedMs = performance.now();
  await exited;
  while ([...pids].some(isRunning)) await wait(10);
  const goneMs = performance.now() - killedMs;
  return { goneMs, lost: reported - ((await findResumePoint(folder, [0, 1]))?.step ?? 0) };
}

const home = await mkdtemp(join(tmpdir(), 'tutti-kills-'));
process.env.TUTTI_HOME = home;
process.env.TUTTI_TRUST = projectFolder('.');
try {
  const results = new Map<string, { goneMs: number; lost: number }[]>(kinds.map(([name]) => [name, []]));
  for (let i = 0; i < kills; i++) {
    const [name, project, config] = kinds[i % kinds.length];
    results.get(name)?.push(await kill(join(home, `run-${i}`), project, config));
  }
  for (const [name, each] of results) {
    const worst = Math.max(...each.map(({ goneMs }) => goneMs));
    const lost = each.map((result) => result.lost);
    console.log(
      `${name}: ${each.length} kills, workers gone after at most ${(worst / 1000).toFixed(2)} s, ` +
        `steps lost: ${lost.join(' ')}`,
    );
  }
} finally {
  await rm(home, { recursive: true, force: true });
}
