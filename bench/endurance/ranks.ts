import { connect } from '../../workers/collectives/socket-channel.ts';
import { lossAt, lossOf } from '../hub/long-run.ts';

/**
 * Light workers: one connection each, as a worker's, that reports points.
 * `node ranks.ts <socket> <ranks> <points per second and rank> <seconds> [<report>]`; a rate of 0 means as fast as the
 * hub takes them, up to `seconds` × 50 points of each rank. The steps continue after that many earlier reports.
 */

const [path, ...numbers] = process.argv.slice(2);
const [ranks, rate, seconds, firstReport = 0] = numbers.map(Number);
const reportsPerSecond = 10;
const simulatedRate = 50;
const perReport = Math.max(1, (rate || simulatedRate) / reportsPerSecond);
const reports = seconds * reportsPerSecond;

const channels = await Promise.all(Array.from({ length: ranks }, () => connect(path, 60_000)));

function report(rank: number, index: number): void {
  const step = Int32Array.from({ length: perReport }, (_, at) => index * perReport + at);
  const columns = [
    new Int32Array(perReport),
    step.map((at) => Math.floor(at / 1000)),
    step,
    Float64Array.from(step, (at) => lossAt(rank, at)),
    new Float64Array(perReport).fill(Date.now()),
  ];
  channels[rank].send({ kind: 'message', message: { type: 'points', names: [lossOf(rank)] }, arrays: columns });
}

function reportAll(index: number): void {
  for (let rank = 0; rank < ranks; rank += 1) report(rank, index);
}

/** The hub's turn: a simulated day must not queue in this process. */
async function keepPace(startedMs: number, index: number): Promise<void> {
  const dueMs = rate === 0 ? 0 : startedMs + (1000 * index) / reportsPerSecond - performance.now();
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs)));
}

const startedMs = performance.now();
for (let index = 0; index < reports; index += 1) {
  reportAll(firstReport + index);
  if (rate !== 0 || index % 4 === 0) await keepPace(startedMs, index + 1);
}
for (const channel of channels) channel.close();
