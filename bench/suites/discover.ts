import { join } from 'node:path';
import { acquire } from '../../core/discovery/acquire.ts';
import { type Belief, beliefOf } from '../../core/discovery/belief.ts';
import { type Acquisition, acquisitionSchema } from '../../core/discovery/search.ts';
import { combineMembers } from '../../core/ensemble/combine-members.ts';
import { Generator } from '../../core/random/generator.ts';
import { startBackend } from '../../workers/backends/backend.ts';
import { createDataset } from '../../workers/data/dataset.ts';
import { fingerprintBlock, loadRdkit } from '../../workers/data/molecules/fingerprint-block.ts';
import { readTable } from '../../workers/data/tables/read-table.ts';
import { predict } from '../../workers/member/predict.ts';
import { taskFor } from '../../workers/member/tasks.ts';
import { tf } from '../../workers/tensorflow/tf.ts';
import { type Figure, figure, median, type Suite } from '../figures.ts';

const candidates = 41_127;
const members = 4;
const bits = 1024;
const sample = join(import.meta.dirname, '..', '..', 'examples', '04_hts_hit_finding', 'sample.csv');
const common = { suite: 'discover' } as const;

/** Seconds of processor time of this process, the median of three. */
async function secondsOf(work: () => unknown): Promise<number> {
  const spent: number[] = [];
  for (let repeat = 0; repeat < 3; repeat++) {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    spent.push((user + system) / 1e6);
  }
  return median(spent);
}

async function measureFingerprints(): Promise<Figure> {
  const table = await readTable(sample);
  const smiles = Array.from(table.columns[0].values, String);
  const rdkit = await loadRdkit();
  const seconds = await secondsOf(() => fingerprintBlock(rdkit, smiles, { radius: 2, bits }));
  const value = smiles.length / seconds;
  return figure({
    ...common,
    name: 'fingerprints, one core',
    value,
    unit: 'molecules/s',
    better: 'higher',
    target: 1000,
  });
}

/** The members of example 04 on as many molecules as its screen has, with random bits. */
async function measurePrediction(): Promise<{ seconds: number; belief: Belief }> {
  await startBackend('wasm', { blas: null, determinism: 'relaxed' });
  const generator = new Generator(1, 'bench');
  const features = Uint8Array.from({ length: candidates * bits }, () => (generator.uniform() < 0.05 ? 255 : 0));
  const targets = new Int32Array(candidates);
  const dataset = createDataset({ name: 'pool', featureShape: [bits], features, targets, classCount: 2 });
  const task = taskFor({ task: 'binary' }, dataset);
  const models = Array.from({ length: members }, () =>
    tf.sequential({
      layers: [tf.layers.dense({ units: 64, activation: 'relu', inputShape: [bits] }), tf.layers.dense({ units: 1 })],
    }),
  );
  const outputs: Float32Array[] = [];
  const seconds = await secondsOf(async () => {
    outputs.length = 0;
    for (const model of models) outputs.push((await predict(model, task, dataset)).values[0]);
  });
  const values = new Float32Array(members * candidates);
  outputs.forEach((own, member) => values.set(own, member * candidates));
  const stack = { kind: 'logits' as const, members, samples: candidates, width: 1, values: [values] };
  const combined = combineMembers(stack, { task: 'binary', combination: 'mean' });
  return { seconds, belief: beliefOf(combined, { kind: 'class', label: 1 }) };
}

function choose(acquisition: Acquisition, belief: Belief): void {
  const open = Int32Array.from({ length: candidates }, (_, index) => index);
  acquire(acquisition, {
    belief,
    open,
    count: 20,
    bestLabel: null,
    features: null,
    generator: new Generator(1, 'bench'),
  });
}

/** What a round of a search costs beside its training, in processor time. */
export const suite: Suite = {
  name: 'discover',
  async run(note) {
    note('fingerprints of 600 molecules');
    const figures = [await measureFingerprints()];
    note(`predictions of ${candidates} candidates by ${members} members`);
    const { seconds, belief } = await measurePrediction();
    const kinds = ['ucb', 'ei', 'thompson', 'qpo', 'fantasies'] as const;
    const choices: number[] = [];
    for (const kind of kinds) {
      note(`20 of ${candidates} candidates by ${kind}`);
      const settings = kind === 'fantasies' ? { kind: 'ucb', batch: 'fantasies' } : { kind };
      choices.push(await secondsOf(() => choose(acquisitionSchema.parse(settings), belief)));
    }
    const round = { ...common, unit: 's', better: 'lower' } as const;
    figures.push(
      figure({
        ...round,
        name: `predictions of ${candidates} candidates, ${members} members, one core`,
        value: seconds,
        target: null,
      }),
      ...kinds.map((kind, at) =>
        figure({ ...round, name: `20 candidates by ${kind}`, value: choices[at], target: null }),
      ),
      figure({ ...round, name: 'prediction and choice by ucb, two cores', value: seconds / 2 + choices[0], target: 2 }),
    );
    return figures;
  },
};
