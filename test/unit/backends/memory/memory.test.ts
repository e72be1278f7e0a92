import { describe, expect, it } from 'vitest';
import { optimizerSchema } from '../../../../core/protocol/run/optimizer-config.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { OutOfMemoryError } from '../../../../workers/backends/wasm/memory/tensor-memory.ts';
import { independentStrategy } from '../../../../workers/strategies/independent.ts';
import { tf } from '../../../../workers/tensorflow/tf.ts';
import { Member } from '../../../../workers/member/member.ts';
import { createOptimizer } from '../../../../workers/optimizers/optimizers.ts';
import { taskOf } from '../../../../workers/member/tasks.ts';
import { spread } from '../kernels/fill.ts';
import { kernelsAlone } from './wasm-memory.ts';

const backend = await startBackend('wasm');

describe('memory of the wasm backend', () => {
  it.each(['sgd', 'adam'])('stays constant over 1,000 steps with %s', async (kind) => {
    const model = tf.sequential({
      layers: [tf.layers.dense({ units: 16, activation: 'relu', inputShape: [8] }), tf.layers.dense({ units: 3 })],
    });
    const task = taskOf('classification');
    const member = new Member(
      model,
      (outputs, targets) => task.loss(outputs, targets),
      (variables) => createOptimizer(optimizerSchema.parse({ kind }), variables),
    );
    const targets = Int32Array.from({ length: 20 }, (_, i) => i % 3);
    const batch = { features: spread(160, 1), featureShape: [20, 8], targets, targetShape: [20] };
    const step = () =>
      independentStrategy().trainStep(member, batch, { learningRate: 0.01 }, { epoch: 0, step: 0, totalSteps: 1000 });
    for (let i = 0; i < 10; i++) await step();
    const before = { ...tf.memory(), heap: backend.memoryBytes() };
    for (let i = 0; i < 1000; i++) await step();
    expect({ ...tf.memory(), heap: backend.memoryBytes() }).toEqual(before);
  });

  it('refuses an allocation that does not fit before anything is written', async () => {
    const { memory } = await kernelsAlone('deterministic');
    const before = tf.memory();
    for (const bytes of [2 ** 32 - 8, 2 ** 32, 2 ** 33]) {
      expect(() => memory.output([bytes / 4])).toThrow(OutOfMemoryError);
      expect(() => memory.output([bytes / 4])).toThrow(`has no room for ${bytes} bytes more`);
    }
    expect(tf.memory()).toEqual(before);
    expect(tf.tidy(() => tf.add(tf.ones([2]), 1).dataSync())).toEqual(Float32Array.of(2, 2));
  });
});
