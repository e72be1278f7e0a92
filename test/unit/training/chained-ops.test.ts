import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { tf } from '../../../workers/tensorflow/tf.ts';

beforeAll(async () => {
  await startBackend('wasm');
});

describe('chained ops', () => {
  it("include all of tfjs-core's chained ops outside Node", () => {
    const folder = join(import.meta.dirname, '../../../node_modules/@tensorflow/tfjs-core/dist/public/chained_ops');
    const files = readdirSync(folder).filter((name) => /^(?!register_all).*(?<!_test)\.js$/.test(name));
    const named = (file: string) => file.slice(0, -3).replaceAll('_', '').toLowerCase();
    const methods = new Set(Object.getOwnPropertyNames(tf.Tensor.prototype).map((name) => name.toLowerCase()));
    expect(files.length).toBeGreaterThan(100);
    expect(files.map(named).filter((name) => !methods.has(name))).toEqual([]);
  });

  it('compute the same as their ops', () => {
    const x = tf.tensor2d([1, -2, 3, 4], [2, 2]);
    expect([...x.flatten().relu().dataSync()]).toEqual([1, 0, 3, 4]);
    expect([...x.sum(0).dataSync()]).toEqual([4, 2]);
    expect([...x.matMul(x, true).dataSync()]).toEqual([10, 10, 10, 20]);
    expect([...x.concat(x.neg(), 1).dataSync()]).toEqual([1, -2, -1, 2, 3, 4, -3, -4]);
    expect(x.stack(x).shape).toEqual([2, 2, 2]);
    expect([...x.where(x.greater(0), tf.zerosLike(x)).dataSync()]).toEqual([1, 0, 3, 4]);
    expect(x.toInt().dtype).toBe('int32');
    expect(() => x.asScalar()).toThrow('A tensor of 4 elements is no scalar.');
  });

  it('let a recurrent layer initialize with an orthogonal matrix', () => {
    const model = tf.sequential({ layers: [tf.layers.lstm({ units: 3, inputShape: [4, 2] })] });
    const [, recurrent] = model.getWeights();
    const product = recurrent.matMul(recurrent, false, true).dataSync();
    expect(recurrent.shape).toEqual([3, 12]);
    [1, 0, 0, 0, 1, 0, 0, 0, 1].forEach((value, i) => expect(product[i]).toBeCloseTo(value, 5));
  });
});
