import { networks, type NetworkName } from './write-ensemble.ts';
import { startBackend } from '../../workers/backends/backend.ts';
import { openEnsemble } from '../../workers/inference/open-ensemble.ts';
import { type LayersModel, type Tensor, tf } from '../../workers/tensorflow/tf.ts';

/**
 * Times the forward passes of all members for one sample, and the ensemble's prediction with its uncertainty:
 * `<folder> <network> <rounds>`. Prints the milliseconds of each as JSON.
 */

const [folder, network, rounds] = process.argv.slice(2);
await startBackend('wasm');
const ensemble = await openEnsemble(folder);
const { shape } = networks[network as NetworkName];
const values = Float32Array.from({ length: shape.reduce((product, size) => product * size, 1) }, (_, i) => Math.sin(i));
const measured: { forwardMs: number; predictMs: number }[] = [];
for (let round = 0; round < Number(rounds); round++) {
  const forwardMs = await timed(async () => {
    for (const model of ensemble.models) await modelOutput(model, values, [1, ...shape]);
  });
  measured.push({ forwardMs, predictMs: await timed(() => ensemble.predict({ values })) });
}
console.log(JSON.stringify(measured));

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

/** What a model predicts for one sample, read back. */
async function modelOutput(model: LayersModel, values: Float32Array, shape: number[]): Promise<void> {
  const predicted = tf.tidy(() => model.predict(tf.tensor(values, shape))) as Tensor;
  await predicted.data();
  predicted.dispose();
}
