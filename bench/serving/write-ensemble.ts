import { join } from 'node:path';
import { exportRun } from '../../src-main/export/export-run.ts';
import { createRunFolder } from '../../src-main/store/runs/run-folder.ts';
import { startBackend } from '../../workers/backends/backend.ts';
import { saveCheckpoint } from '../../workers/checkpoints/checkpoint-store.ts';
import { keepTopology } from '../../workers/checkpoints/layers-model.ts';
import { readWeights } from '../../workers/member/weights.ts';
import { type LayersModel, tf } from '../../workers/tensorflow/tf.ts';
import { topologyOf } from '../../workers/tensorflow/topology.ts';
import { benchRecord } from '../records.ts';

/** Networks that are served; `bench/peers/serve.py` has the same ones in PyTorch. */
export type NetworkName = 'small-mlp' | 'mlp' | 'cnn';
export const networks: Record<NetworkName, { members: number; shape: number[]; build: () => LayersModel }> = {
  'small-mlp': { members: 2, shape: [8], build: () => perceptron(8, 64, 10) },
  mlp: { members: 8, shape: [784], build: () => perceptron(784, 256, 10) },
  cnn: { members: 4, shape: [28, 28, 1], build: smallCnn },
};

/** Writes classifiers with random weights as an exported ensemble. @returns its folder */
export async function writeEnsemble(parent: string, name: NetworkName): Promise<string> {
  await startBackend('wasm');
  const folder = join(parent, name);
  const { members, build } = networks[name];
  const { plan, ...record } = benchRecord(name);
  await createRunFolder(folder, { ...record, plan: plan.slice(0, members) });
  for (let rank = 0; rank < members; rank++) {
    const model = build();
    const about = { rank, name: 'final', epoch: 1, step: 1, monitor: null, score: null };
    const key = await keepTopology(folder, rank, topologyOf(model));
    await saveCheckpoint(folder, { ...about, model: key, tensors: await readWeights(model) });
    model.dispose();
  }
  const to = `${folder}-exported`;
  await exportRun(folder, { to, zip: false, formats: ['ensemble'], set: 'final' });
  return to;
}

function perceptron(inputs: number, units: number, classes: number): LayersModel {
  return tf.sequential({
    layers: [
      tf.layers.dense({ units, activation: 'relu', inputShape: [inputs] }),
      tf.layers.dense({ units, activation: 'relu' }),
      tf.layers.dense({ units: classes }),
    ],
  });
}

function smallCnn(): LayersModel {
  return tf.sequential({
    layers: [
      tf.layers.conv2d({ filters: 32, kernelSize: 3, activation: 'relu', inputShape: [28, 28, 1] }),
      tf.layers.conv2d({ filters: 64, kernelSize: 3, strides: 2, activation: 'relu' }),
      tf.layers.flatten(),
      tf.layers.dense({ units: 10 }),
    ],
  });
}
