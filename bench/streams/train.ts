import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startBackend } from '../../workers/backends/backend.ts';
import { createSampler } from '../../workers/data/samplers.ts';
import { openBatches } from '../../workers/data/streams/open-batches.ts';
import { createSourceDataset, loadDataset } from '../../workers/data/streams/source-dataset.ts';
import { arrayShards } from '../../workers/data/streams/shards.ts';
import { Member } from '../../workers/member/member.ts';
import { createOptimizer } from '../../workers/optimizers/optimizers.ts';
import { subset } from '../../workers/data/dataset.ts';
import { cases } from '../compute/networks.ts';
import { median } from '../figures.ts';

/**
 * Trains the small CNN on shards in a folder, from disk or on the first samples in memory:
 * `<folder> <disk|memory> <steps>`. Prints the time of a step, the share in which it waited for a batch, and the
 * largest resident memory, as JSON.
 */

const [folder, place, count] = process.argv.slice(2);
const steps = Number(count);
const batchSize = 64;
const { model, task, optimizer } = cases.cnn;

await startBackend('wasm');
const files = (await readdir(folder)).sort().map((name) => join(folder, name));
const source = await arrayShards(files, { featureShape: [28, 28, 1], type: 'uint8' });
const targets = Int32Array.from({ length: source.length }, (_, i) => i % 10);
const onDisk = createSourceDataset({ name: 'shards', source, targets, classCount: 10 });
const some = Int32Array.from({ length: 10_000 }, (_, i) => i);
const dataset = place === 'disk' ? onDisk : await loadDataset(subset(onDisk, some));
const sampler = createSampler({
  kind: 'shuffled',
  length: dataset.length,
  batchSize,
  dropLast: true,
  seed: 1,
  sharedSeed: 1,
  rank: 0,
  worldSize: 1,
});
const batches = openBatches(dataset);
batches.follow?.(sampler);
const member = new Member(
  model(),
  (outputs, labels) => task.loss(outputs, labels),
  (variables) => createOptimizer(optimizer, variables),
);
/** The first steps fill caches. */
const warmUpSteps = 10;
const waitsMs: number[] = [];
const stepsMs: number[] = [];
let step = 0;
for (let epoch = 0; step < steps; epoch++) {
  let index = 0;
  for (const indices of sampler.batches(epoch)) {
    if (step === steps) break;
    const askedMs = performance.now();
    const batch = await batches.batch(indices, { epoch, batch: index++, step });
    waitsMs.push(performance.now() - askedMs);
    const { gradients } = await member.lossAndGradients(batch, { epoch, step, totalSteps: steps });
    member.applyGradients(gradients, { learningRate: 0.001 });
    for (const gradient of gradients) gradient?.dispose();
    stepsMs.push(performance.now() - askedMs);
    step++;
  }
}
const sumOf = (values: readonly number[]) => values.slice(warmUpSteps).reduce((sum, value) => sum + value, 0);
const residentBytes = process.resourceUsage().maxRSS * 1024;
const stepMs = median(stepsMs.slice(warmUpSteps));
console.log(JSON.stringify({ stepMs, waitingShare: sumOf(waitsMs) / sumOf(stepsMs), residentBytes }));
process.exit(0);
