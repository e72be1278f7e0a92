import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { encodeSafetensors } from '../../../core/safetensors/safetensors.ts';
import { startBackend } from '../../../workers/backends/backend.ts';
import { loadWarmStart } from '../../../workers/member/warm-start.ts';
import { readWeights } from '../../../workers/member/weights.ts';
import { Generator } from '../../../workers/random/index.ts';
import { tf, type LayersModel } from '../../../workers/tensorflow/tf.ts';

beforeAll(async () => void (await startBackend('cpu')));

const { layers } = tf;

function createModel(classes: number, last = 'head'): LayersModel {
  return tf.sequential({
    layers: [layers.dense({ name: 'base', units: 6, inputShape: [4] }), layers.dense({ name: last, units: classes })],
  });
}

const weightsOf = (model: LayersModel): number[][] => model.getWeights().map((weight) => [...weight.dataSync()]);

async function checkpointOf(model: LayersModel): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-warm-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const checkpoint = join(folder, 'final.safetensors');
  await writeFile(checkpoint, encodeSafetensors(await readWeights(model), {}));
  return checkpoint;
}

const start = (model: LayersModel, checkpoint: string, options: { strict?: boolean; noise?: number } = {}) =>
  loadWarmStart(model, { checkpoint, strict: true, noise: 0, ...options }, new Generator(5, 'warm-start'));

describe('a warm start', () => {
  it('loads all weights of the same model', async () => {
    const [saved, model] = [createModel(3), createModel(3)];
    const checkpoint = await checkpointOf(saved);
    const { message } = await start(model, checkpoint);
    expect(weightsOf(model)).toEqual(weightsOf(saved));
    expect(message).toBe(`Started with 4 of 4 weights from ${checkpoint}.`);
  });

  it('refuses another model, or loads only the weights that fit and reports the others', async () => {
    const [saved, model] = [createModel(3), createModel(2)];
    const checkpoint = await checkpointOf(saved);
    await expect(start(model, checkpoint)).rejects.toThrow('"head/kernel" is [6, 3], the model\'s is [6, 2]');
    const head = weightsOf(model).slice(2);
    const { message, data } = await start(model, checkpoint, { strict: false });
    expect(weightsOf(model)).toEqual([...weightsOf(saved).slice(0, 2), ...head]);
    expect(data).toEqual({
      loaded: ['base/kernel', 'base/bias'],
      missing: ['head/kernel', 'head/bias'],
      unused: ['head/bias', 'head/kernel'],
    });
    expect(message).toContain('Started with 2 of 4 weights');
  });

  it('refuses a checkpoint without any weight of the model', async () => {
    const other = tf.sequential({ layers: [layers.dense({ name: 'other', units: 2, inputShape: [4] })] });
    const checkpoint = await checkpointOf(other);
    await expect(start(createModel(2), checkpoint, { strict: false })).rejects.toThrow(
      "has no weight with the name and shape of one of this model's (base/kernel, base/bias, head/kernel, head/bias)",
    );
  });

  it("adds noise in proportion to each tensor's norm", async () => {
    const [saved, model] = [createModel(3), createModel(3)];
    await start(model, await checkpointOf(saved), { noise: 0.1 });
    const norm = (values: number[]) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
    const [kernel] = weightsOf(saved);
    const noise = weightsOf(model)[0].map((weight, i) => weight - kernel[i]);
    // The kernel has 24 elements, so the norm of its noise is about a tenth of the kernel's norm.
    expect(norm(noise) / norm(kernel)).toBeGreaterThan(0.06);
    expect(norm(noise) / norm(kernel)).toBeLessThan(0.14);
  });

  it('names the file that it could not read', async () => {
    await expect(start(createModel(2), '/nowhere/final.safetensors')).rejects.toThrow('/nowhere/final.safetensors');
  });
});
