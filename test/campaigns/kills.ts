import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { RunConfigInput } from '../../core/protocol/run/config.ts';
import { Generator } from '../../workers/random/index.ts';
import { projectFolder } from '../integration/harness.ts';
import { type Reference, RunUnderFire, trainUndisturbed } from './disturbed-run.ts';
import { KillsLog } from './kills-log.ts';

/**
 * `npm run test:kills -- --count 200 --seed 1 --log FILE`: kills workers and hubs (SIGKILL) at random times until
 * `count` kills are done, lets Tutti recover, and compares everything that each run has written with a run that nobody
 * disturbed. With a log, it continues where the log ends, and its summary counts all of it. Exits with 1 if anything
 * was lost; the folders of such runs stay.
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

/** Trains runs until the log has `wanted` kills. */
async function campaign(home: string, seed: number, wanted: number, log: KillsLog): Promise<void> {
  const references = new Map<string, Reference>();
  while (log.kills < wanted) {
    const index = log.runs.length;
    const random = new Generator(seed, `kills/${index}`);
    const configuration = Object.keys(configurations)[random.integer(Object.keys(configurations).length)];
    const config = { ...settings, ...configurations[configuration] };
    const folder = join(home, 'runs', `${configuration}-${index}`);
    const reference =
      references.get(configuration) ??
      (await trainUndisturbed(join(home, 'runs', `undisturbed-${configuration}`), config));
    references.set(configuration, reference);
    const run = new RunUnderFire(folder, config, reference, random);
    await run.run(wanted - log.kills);
    log.add({ seed, index, configuration, kills: run.kills, losses: run.losses });
    console.error(`${configuration} ${index}: ${log.kills} kills so far; ${run.losses.join('; ') || 'nothing lost'}`);
    if (run.losses.length === 0) await rm(folder, { recursive: true, force: true });
    else console.error(`  kept: ${folder}`);
  }
}

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    log: { type: 'string' },
  },
});
const home = await mkdtemp(join(tmpdir(), 'tutti-kills-'));
process.env.TUTTI_HOME = home;
process.env.TUTTI_TRUST = projectFolder('.');
const log = new KillsLog(values.log ?? null, Number(values.seed));
await campaign(home, Number(values.seed), Number(values.count), log);
for (const line of log.summary()) console.log(line);
if (log.runs.some(({ losses }) => losses.length > 0)) process.exitCode = 1;
else await rm(home, { recursive: true });
