import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { toJson } from '../../core/protocol/wire/numbers.ts';
import { benchRecord } from '../records.ts';
import { clickUntil, type Latency } from './clicks.ts';
import { openLink, openWindow, type Session, type Window } from './windows.ts';

/**
 * `npm run endurance`: a hub with many runs on disk, ranks that report over sockets and open windows. Measures the
 * round trips of clicks in an idle hub and under load, then pushes the points of some simulated hours as fast as they
 * go, and reports what grew meanwhile.
 */
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10000' },
    ranks: { type: 'string', default: '64' },
    windows: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '60' },
    hours: { type: 'string', default: '24' },
  },
});
const [runs, ranks, windows, seconds, hours] = [
  values.runs,
  values.ranks,
  values.windows,
  values.seconds,
  values.hours,
].map(Number);
const pauseMs = 50;

async function writeRuns(home: string): Promise<void> {
  for (let index = 0; index < runs; index += 1) {
    const id = `run-${String(index).padStart(5, '0')}`;
    const folder = join(home, 'runs', id);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'run.json'), toJson(benchRecord(id, { endedAt: new Date().toISOString() }), 2));
    await writeFile(join(folder, 'metrics.csv'), 'epoch,step,train/member_0_loss\n0,1,0.5\n0,2,0.25\n');
  }
}

function start(entry: string, home: string, args: readonly string[]): ChildProcess {
  const env = { ...process.env, TUTTI_HOME: home };
  return fork(join(import.meta.dirname, entry), [...args], {
    env,
    execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'],
  });
}

async function ask(hub: ChildProcess, text: 'sample' | 'written'): Promise<Record<string, number>> {
  hub.send(text);
  const [answer] = (await once(hub, 'message')) as [Record<string, number>];
  return answer;
}

/** Resolves once the hub lists all runs, and the one that trains. */
async function untilListed(session: Session): Promise<void> {
  const window = await openWindow(session);
  while ((await window.hub.runOverview()).total <= runs) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  window.close();
}

/** Clicks for some time without load, then while the ranks report. */
async function underLoad(
  window: Window,
  socket: string,
  home: string,
): Promise<{ idle: Latency[]; loaded: Latency[] }> {
  const endMs = performance.now() + (1000 * seconds) / 2;
  const idle = await clickUntil(window, () => performance.now() > endMs, pauseMs);
  const child = start('ranks.ts', home, [socket, String(ranks), '50', String(seconds)]);
  const loaded = await clickUntil(window, () => child.exitCode !== null, pauseMs);
  if (child.exitCode !== 0) throw new Error(`The ranks ended with ${child.exitCode}.`);
  return { idle, loaded };
}

function show(title: string, latencies: readonly Latency[]): void {
  console.log(`${title} (load of the machine ${loadavg()[0].toFixed(1)})`);
  for (const { name, median, p99, worst, count } of latencies) {
    const numbers = [median, p99, worst].map((ms) => `${ms.toFixed(1).padStart(8)} ms`).join('');
    console.log(`  ${name.padEnd(26)} median, p99, worst ${numbers}   of ${count}`);
  }
}

function showSample(title: string, { points, rss, heapUsed, arrayBuffers, descriptors }: Record<string, number>): void {
  const [resident, heap, arrays] = [rss, heapUsed, arrayBuffers].map((bytes) => (bytes / 1e6).toFixed(0));
  console.log(
    `${title}: ${points} points; resident ${resident} MB, heap ${heap} MB, arrays ${arrays} MB; ${descriptors} descriptors`,
  );
}

/**
 * The points of the simulated hours, in four quarters: what the hub uses after each. The steps continue where those
 * under load ended.
 */
async function simulate(hub: ChildProcess, socket: string, home: string, window: Window): Promise<void> {
  for (let quarter = 1; quarter <= 4; quarter += 1) {
    const startedMs = performance.now();
    const before = await ask(hub, 'sample');
    const firstReport = 10 * (seconds + hours * 900 * (quarter - 1));
    const child = start('ranks.ts', home, [socket, ...[ranks, 0, hours * 900, firstReport].map(String)]);
    const latencies = await clickUntil(window, () => child.exitCode !== null, pauseMs);
    await ask(hub, 'written');
    const after = await ask(hub, 'sample');
    const rate = (after.points - before.points) / ((performance.now() - startedMs) / 1000);
    showSample(`hour ${((hours * quarter) / 4).toFixed(2)} at ${Math.round(rate)} points/s`, after);
    show('  clicks meanwhile', latencies);
  }
}

const home = await mkdtemp(join(tmpdir(), 'tutti-endurance-'));
try {
  await writeRuns(home);
  const socket = join(home, 'socket', 'hub.sock');
  const startedMs = performance.now();
  const hub = start('hub.ts', home, [socket, String(ranks)]);
  const [{ link }] = (await once(hub, 'message')) as [{ link: string }];
  console.log(
    `a hub with ${runs} runs that it has not seen before: ${Math.round(performance.now() - startedMs)} ms to start`,
  );
  const session = await openLink(link);
  const opened = await Promise.all(Array.from({ length: windows }, () => openWindow(session)));
  for (const window of opened) await window.hub.watch('endurance');
  const clicking = await openWindow(session);
  let isListed = false;
  const listed = untilListed(session).finally(() => (isListed = true));
  const first = await clickUntil(clicking, () => isListed, pauseMs);
  await listed;
  console.log(`all of them are listed after ${Math.round(performance.now() - startedMs)} ms`);
  show('while they are read for the first time', first);
  showSample('at rest', await ask(hub, 'sample'));
  const { idle, loaded } = await underLoad(clicking, socket, home);
  show('idle', idle);
  show(`${ranks} ranks at 50 points/s, ${windows} windows`, loaded);
  showSample('after it', await ask(hub, 'sample'));
  await simulate(hub, socket, home, clicking);
  console.log(
    `updates that a window received: ${opened.map(({ received }) => `${received.updates} (${received.lists} lists)`).join(', ')}`,
  );
  for (const window of [...opened, clicking]) window.close();
  hub.disconnect();
  await once(hub, 'exit');
} finally {
  await rm(home, { recursive: true, force: true });
}
