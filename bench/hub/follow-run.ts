import { join } from 'node:path';
import type { PointBatch } from '../../core/protocol/wire/points.ts';
import { encodeRpc } from '../../core/protocol/pages/rpc.ts';
import type { RunUpdate } from '../../core/protocol/pages/run-updates.ts';
import { FollowedRun } from '../../src-main/hub/followed-run.ts';
import { RunRecorder } from '../../src-main/runs/recording/run-recorder.ts';
import { homePaths } from '../../src-main/store/home.ts';
import { createRunFolder } from '../../src-main/store/runs/run-folder.ts';
import { RunIndex } from '../../src-main/store/index/run-index.ts';
import { benchRecord, ranks } from '../records.ts';
import { lossAt, lossOf } from './long-run.ts';

/**
 * A hub that records a run's points, holds them for its pages and encodes the pages' updates, as fast as it can. Prints
 * points per second, and the memory that a million points take.
 */

/** A tenth of a second at 20,000 points per second. */
const stepsPerBatch = 125;
const batches = 8_000;
/** After this many points, columns are full and the allocator's memory has settled. */
const warmUpBatches = 4_000;

function batchOf(rank: number, firstStep: number): PointBatch {
  const step = Int32Array.from({ length: stepsPerBatch }, (_, at) => firstStep + at);
  return {
    names: [lossOf(rank)],
    nameIndex: new Int32Array(stepsPerBatch),
    epoch: step.map((at) => Math.floor(at / 1000)),
    step,
    value: Float64Array.from(step, (at) => lossAt(rank, at)),
    timeMs: new Float64Array(stepsPerBatch),
  };
}

function residentMegabytes(): number {
  globalThis.gc?.();
  return process.memoryUsage.rss() / 1e6;
}

const folder = join(homePaths().runs, 'followed');
const record = benchRecord('followed', { status: 'running' });
await createRunFolder(folder, record);
const index = await RunIndex.open();
let told: RunUpdate[] = [];
const recorder = new RunRecorder(folder, record, index, (update) => void told.push(update));
await recorder.begin(null);
const followed = await FollowedRun.open(folder);

let beforeMegabytes = 0;
const startedMs = performance.now();
for (let batch = 0; batch < batches; batch += 1) {
  for (let rank = 0; rank < ranks; rank += 1) recorder.points(rank, batchOf(rank, batch * stepsPerBatch));
  await recorder.metrics.keep();
  for (const update of told) if (update.type === 'points') followed.take(update.batch);
  encodeRpc(told);
  told = [];
  if (batch === warmUpBatches) beforeMegabytes = residentMegabytes();
}
const seconds = (performance.now() - startedMs) / 1000;
const rssMegabytes = residentMegabytes();
const measuredPoints = (batches - warmUpBatches) * stepsPerBatch * ranks;
console.log(
  JSON.stringify({
    pointsPerSecond: (batches * stepsPerBatch * ranks) / seconds,
    growthMegabytes: (rssMegabytes - beforeMegabytes) / (measuredPoints / 1e6),
    rssMegabytes,
  }),
);
await recorder.close();
index.close();
