import { describe, expect, it } from 'vitest';
import { metricValues, train, useHub } from './harness.ts';

const { hub } = useHub();

/** What a worker may allocate: less than the 768 MiB of the samples. */
const memoryLimitBytes = 640 * 2 ** 20;

describe.runIf(process.platform === 'linux')('a stream that is larger than the memory allowed', () => {
  it('trains, where the same samples in memory do not fit', async () => {
    const streamed = await train(hub(), 'stream', { memoryLimitBytes });
    expect([streamed.record.status, streamed.record.error]).toEqual(['finished', null]);
    expect(Number(metricValues(streamed.folder, 'val/ens_acc')[0])).toBeGreaterThan(0.9);
    const inMemory = await train(hub(), 'stream', { memoryLimitBytes, hyperparameters: { inMemory: true } });
    expect(inMemory.record.status).toBe('failed');
    expect(inMemory.record.error?.message).toContain('allocation failed');
  });
});
