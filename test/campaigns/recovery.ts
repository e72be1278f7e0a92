import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { RunConfigInput } from '../../core/protocol/run/config.ts';
import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';
import { Hub } from '../../src-main/hub/hub.ts';
import { projectFolder } from '../integration/harness.ts';

/**
 * `npm run test:recovery -- --kills 6`: kills a worker (SIGKILL) that often in a run of each strategy, and measures how
 * long it takes until all ranks train again: until the hub restarts the group, and until the new processes have loaded
 * project, data and state.
 */

const settings: RunConfigInput = {
  members: 2,
  devices: 2,
  maxEpochs: 1_000_000,
  checkpoints: { stateEverySeconds: 0 },
  onMemberLoss: { kind: 'restart', maxRestarts: 1000, backoffSeconds: 0 },
};

const strategies: Record<string, RunConfigInput['strategy']> = {
  independent: { kind: 'independent' },
  joint: { kind: 'joint' },
  'data-parallel': { kind: 'data-parallel' },
  sharded: { kind: 'sharded' },
  hdet: { kind: 'hdet', averageEverySteps: 10, decay: 0 },
};

interface Recovery {
  /** From the kill until the group was restarted. */
  restartMs: number;
  /** From then until all ranks train. */
  loadMs: number;
}

/** The updates of a run, one after the other. */
class Updates {
  private waiting: ((update: RunUpdate) => void)[] = [];

  take(update: RunUpdate): void {
    for (const wake of this.waiting.splice(0)) wake(update);
  }

  next(): Promise<RunUpdate> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  async until(matches: (update: RunUpdate) => boolean): Promise<void> {
    while (!matches(await this.next()));
  }
}

async function measure(hub: Hub, strategy: RunConfigInput['strategy'], kills: number): Promise<Recovery[]> {
  const folder = projectFolder('blobs');
  const project = await hub.describe(folder);
  const planned = await hub.planRun({ projectFolder: folder, overrides: [{ ...settings, strategy }] }, project);
  const updates = new Updates();
  const pids = new Map<number, number | null>();
  const training = new Set<number>();
  const session = hub.start(planned, (update) => {
    if (update.type === 'worker') pids.set(update.rank, update.pid);
    if (update.type === 'progress' && update.step > 0) training.add(update.rank);
    updates.take(update);
  });
  const ended = session.run();
  const recoveries: Recovery[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    await updates.until(() => training.size === 2);
    const pid = pids.get(kill % 2);
    if (pid === null || pid === undefined) throw new Error(`Rank ${kill % 2} has no process.`);
    const killedMs = performance.now();
    process.kill(pid, 'SIGKILL');
    await updates.until((update) => update.type === 'event' && update.event.kind === 'restarted');
    const restartedMs = performance.now();
    training.clear();
    await updates.until(() => training.size === 2);
    recoveries.push({ restartMs: restartedMs - killedMs, loadMs: performance.now() - restartedMs });
  }
  session.abort();
  await ended;
  return recoveries;
}

function describe(values: number[]): string {
  const seconds = values.map((ms) => ms / 1000).sort((a, b) => a - b);
  return `median ${seconds[Math.floor(seconds.length / 2)].toFixed(2)} s, worst ${seconds.at(-1)?.toFixed(2)} s`;
}

function report(name: string, recoveries: readonly Recovery[]): void {
  const restart = describe(recoveries.map(({ restartMs }) => restartMs));
  const load = describe(recoveries.map(({ loadMs }) => loadMs));
  const total = describe(recoveries.map(({ restartMs, loadMs }) => restartMs + loadMs));
  console.log(`${name}: ${recoveries.length} kills; all train again: ${total}; restart: ${restart}; load: ${load}`);
}

const { values } = parseArgs({ options: { kills: { type: 'string', default: '6' } } });
const home = await mkdtemp(join(tmpdir(), 'tutti-recovery-'));
process.env.TUTTI_HOME = home;
process.env.TUTTI_TRUST = projectFolder('.');
const hub = await Hub.open();
const all: Recovery[] = [];
for (const [name, strategy] of Object.entries(strategies)) {
  const recoveries = await measure(hub, strategy, Number(values.kills));
  all.push(...recoveries);
  report(name, recoveries);
}
report('all', all);
hub.close();
await rm(home, { recursive: true, force: true });
