import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { RunConfigInput } from '../../core/protocol/run/config.ts';
import { Generator } from '../../workers/random/index.ts';
import { isRunning, projectFolder } from '../integration/harness.ts';
import { HubUnderFire } from './hub-under-fire.ts';
import { readBack } from './read-back.ts';

/**
 * `npm run test:kills -- --count 200 --seed 1`: kills workers and hubs (SIGKILL) at random times until `count` kills are done, lets Tutti
 * recover, and compares everything that each run has written with a run that nobody disturbed. Exits with 1 if anything was lost.
 */

const settings: RunConfigInput = {
  maxEpochs: 120,
  logEverySteps: 7,
  onMemberLoss: { kind: 'restart', maxRestarts: 1000, backoffSeconds: 0 },
  checkpoints: { stateEverySeconds: 0.2 },
};

/** Every strategy, more members than devices, and members that share a process. */
const configurations: Record<string, RunConfigInput> = {
  independent: { members: 2, devices: 2 },
  joint: { members: 2, devices: 2, strategy: { kind: 'joint' } },
  'data-parallel': { members: 2, devices: 2, strategy: { kind: 'data-parallel' } },
  sharded: { members: 2, devices: 2, strategy: { kind: 'sharded' } },
  hdet: { members: 2, devices: 2, strategy: { kind: 'hdet', averageEverySteps: 10, decay: 0 } },
  waves: { members: 4, devices: 2 },
  stacked: { members: 4, devices: 2, membersPerDevice: 2 },
};

type Target = 'hub' | 'worker';

interface Kill {
  target: Target;
  configuration: string;
  /** From the kill to the next step of a rank; null if the run was about to end. */
  recoveryMs: number | null;
}

class Campaign {
  readonly kills: Kill[] = [];
  readonly losses: string[] = [];
  private readonly random: Generator;
  private readonly home: string;
  private readonly wanted: number;

  constructor(home: string, seed: number, wanted: number) {
    this.home = home;
    this.random = new Generator(seed, 'kills');
    this.wanted = wanted;
  }

  async run(): Promise<void> {
    const undisturbed = new Map<string, { folder: string; durationMs: number }>();
    for (let round = 0; this.kills.length < this.wanted; round++) {
      for (const [name, own] of Object.entries(configurations)) {
        if (this.kills.length >= this.wanted) return;
        const config = { ...settings, ...own };
        const reference = undisturbed.get(name) ?? (await this.train(name, config));
        undisturbed.set(name, reference);
        await this.disturb(name, round, config, reference);
      }
    }
  }

  private async train(name: string, config: RunConfigInput): Promise<{ folder: string; durationMs: number }> {
    const folder = join(this.home, 'runs', `undisturbed-${name}`);
    const startMs = performance.now();
    const status = await new HubUnderFire(folder, config).ended;
    if (status !== 'finished') throw new Error(`The undisturbed run of "${name}" ended as ${status}.`);
    return { folder, durationMs: performance.now() - startMs };
  }

  /** Trains one run under one to three kills, and reads it back. */
  private async disturb(
    name: string,
    round: number,
    config: RunConfigInput,
    { folder: undisturbed, durationMs }: { folder: string; durationMs: number },
  ): Promise<void> {
    const folder = join(this.home, 'runs', `${name}-${round}`);
    const pids = new Set<number>();
    let left = 1 + this.random.integer(3);
    let hub = new HubUnderFire(folder, config);
    let recovering: Promise<void> | null = null;
    for (;;) {
      const target = left > 0 && this.kills.length < this.wanted ? this.target() : null;
      const status = await this.untilKilled(hub, target, name, 0.8 * this.random.uniform() * durationMs);
      for (const pid of hub.everyPid) pids.add(pid);
      await recovering;
      recovering = null;
      if (status === 'missed') left = 0;
      else if (status === 'worker') left -= 1;
      else if (status === 'hub') {
        left -= 1;
        const killedMs = performance.now();
        await this.untilGone(pids, `${name}-${round}`);
        hub = new HubUnderFire(folder, config);
        recovering = this.timeRecovery(hub, killedMs);
      } else break;
    }
    await this.untilGone(pids, `${name}-${round}`);
    const wrong = existsSync(join(folder, 'run.json')) ? await readBack(folder, undisturbed) : ['run.json is missing'];
    this.losses.push(...wrong.map((what) => `${folder}: ${what}`));
    console.error(`${name} ${round}: ${this.kills.length} kills so far; ${wrong.join('; ') || 'nothing lost'}`);
    if (wrong.length === 0) await rm(folder, { recursive: true });
  }

  private target(): Target {
    return this.random.uniform() < 0.5 ? 'hub' : 'worker';
  }

  /** Waits for a random time and kills. @returns what was killed; `missed` if there was nothing to kill; null if the run ended */
  private async untilKilled(hub: HubUnderFire, target: Target | null, name: string, delayMs: number) {
    if (target === null) {
      await hub.ended;
      return null;
    }
    const timer = Promise.withResolvers<'due'>();
    const timeout = setTimeout(() => timer.resolve('due'), delayMs);
    const first = await Promise.race([timer.promise, hub.ended]);
    clearTimeout(timeout);
    if (first !== 'due') return null;
    const kill: Kill = { target, configuration: name, recoveryMs: null };
    if (target === 'hub') {
      hub.kill();
      await hub.ended;
      this.kills.push(kill);
      return 'hub' as const;
    }
    const pids = [...new Set(hub.workers.values())];
    if (pids.length === 0) return 'missed' as const;
    const killedMs = performance.now();
    process.kill(pids[this.random.integer(pids.length)], 'SIGKILL');
    this.kills.push(kill);
    await this.timeRecovery(hub, killedMs);
    return 'worker' as const;
  }

  /** Notes for the newest kill how long it took until a rank trained again. A run that ended meanwhile has no such time. */
  private async timeRecovery(hub: HubUnderFire, killedMs: number): Promise<void> {
    const kill = this.kills.at(-1);
    const outcome = await Promise.race([hub.stepping().then(() => 'stepping' as const), hub.ended]);
    if (outcome === 'stepping' && kill !== undefined) kill.recoveryMs = performance.now() - killedMs;
  }

  /** Workers that outlive their hub by more than 5 s count as a loss. */
  private async untilGone(pids: ReadonlySet<number>, run: string): Promise<void> {
    const limitMs = performance.now() + 5000;
    while ([...pids].some(isRunning)) {
      if (performance.now() > limitMs) {
        this.losses.push(`${run}: a worker outlived its hub by more than 5 s`);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

function report({ kills, losses }: Campaign): void {
  console.log('| Fault | Injected | Lost | Recovery, median | Recovery, worst |');
  for (const target of ['worker', 'hub'] as const) {
    const own = kills.filter((kill) => kill.target === target);
    const seconds = own.flatMap(({ recoveryMs }) => (recoveryMs === null ? [] : [recoveryMs / 1000]));
    seconds.sort((a, b) => a - b);
    const [median, worst] = [seconds[Math.floor(seconds.length / 2)], seconds.at(-1)].map((s) => s?.toFixed(2) ?? '–');
    console.log(`| SIGKILL of a ${target} | ${own.length} | ${losses.length} | ${median} s | ${worst} s |`);
  }
  for (const loss of losses) console.log(loss);
}

const { values } = parseArgs({
  options: { count: { type: 'string', default: '200' }, seed: { type: 'string', default: '1' } },
});
const home = await mkdtemp(join(tmpdir(), 'tutti-kills-'));
process.env.TUTTI_HOME = home;
process.env.TUTTI_TRUST = projectFolder('.');
const campaign = new Campaign(home, Number(values.seed), Number(values.count));
await campaign.run();
report(campaign);
if (campaign.losses.length === 0) await rm(home, { recursive: true });
else process.exitCode = 1;
