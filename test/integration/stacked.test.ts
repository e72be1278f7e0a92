import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../protocol/run-config.ts';
import { readMetrics } from '../../src-main/store/metric-table.ts';
import { decodeSafetensors } from '../../workers/checkpoints/safetensors.ts';
import { pidOf, resume, startRun, train, useHub } from './harness.ts';

const { hub } = useHub();
/** Dropout included; about 30 steps. */
const config: RunConfigInput = { members: 3, devices: 'cpu:0', maxEpochs: 10, seed: 5 };

/** All values of a rank's checkpoint, one after the other. */
function weightsOf(folder: string, rank: number, name = 'final'): number[] {
  const file = readFileSync(join(folder, 'checkpoints', `rank-${rank}`, `${name}.safetensors`));
  return decodeSafetensors(file).tensors.flatMap(({ data }) => Array.from(data as Float32Array));
}

async function expectAlike(folder: string, other: string, names: RegExp): Promise<void> {
  const [actual, expected] = [await readMetrics(folder), await readMetrics(other)];
  expect([...actual.values.keys()].sort()).toEqual([...expected.values.keys()].sort());
  for (const [name, values] of expected.values) {
    if (!names.test(name)) continue;
    const own = actual.values.get(name) ?? [];
    expect(own.length, name).toBe(values.length);
    values.forEach((value, i) => {
      if (Number.isNaN(value)) expect(own[i], `${name}[${i}]`).toBeNaN();
      else expect(own[i], `${name}[${i}]`).toBeCloseTo(value, 4);
    });
  }
}

describe('three members in one worker', () => {
  it('are the members that three workers train, with their losses, metrics and checkpoints', async () => {
    const alone = await train(hub(), 'blobs', config);
    const stacked = await train(hub(), 'blobs', { ...config, membersPerDevice: 3 });
    expect(stacked.record.error).toBeNull();
    expect(stacked.record.status).toBe('finished');
    expect(new Set([0, 1, 2].map((rank) => pidOf(stacked.updates, rank))).size).toBe(1);
    expect(new Set([0, 1, 2].map((rank) => pidOf(alone.updates, rank))).size).toBe(3);
    await expectAlike(stacked.folder, alone.folder, /_loss$|^train\/loss|_lr$|^val\//);
    for (const rank of [0, 1, 2]) {
      const expected = weightsOf(alone.folder, rank);
      weightsOf(stacked.folder, rank).forEach((weight, i) => expect(weight).toBeCloseTo(expected[i], 4));
    }
  });
});
