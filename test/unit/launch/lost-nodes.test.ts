import { expect, it } from 'vitest';
import type { Placement } from '../../../core/protocol/machine/devices.ts';
import { nameLostNodes } from '../../../src-main/runs/attempt/place-on-nodes.ts';
import type { WaveOutcome } from '../../../src-main/runs/attempt/wave.ts';

/** Ranks 0 to 4 on nodes a, b, b, c, d. */
const wave = ['a', 'b', 'b', 'c', 'd'].map((name, rank): Placement => {
  const device = { id: `${name}/cpu:${rank}`, kind: 'cpu', index: 0, name: 'CPU', node: { name, task: rank } } as const;
  const unknown = { memoryTotalBytes: null, memoryUsedBytes: null, load: null, processCount: null };
  return { rank, wave: 0, device: { ...device, ...unknown } };
});

const failedOn = (rank: number): WaveOutcome => ({
  kind: 'failed',
  error: { rank, device: wave[rank].device.id, epoch: 1, step: 4, message: 'It was lost.' },
  isProcessLost: true,
});

const messageWithout = (lost: string, rank = 1): string | null => {
  const isPresent = ({ node }: Pick<Placement['device'], 'node'>): boolean => !lost.includes(String(node?.name));
  const outcome = nameLostNodes(failedOn(rank), wave, { isPresent });
  return outcome.kind === 'failed' ? outcome.error.message : null;
};

it('an error names nodes that were lost beside that of its rank, each once', () => {
  expect(messageWithout('bcd')).toBe('It was lost. Also lost: c, d.');
  expect(messageWithout('bd', 4)).toBe('It was lost. Also lost: b.');
});

it('an error stays as it is if no other node is lost', () => {
  expect(messageWithout('b')).toBe('It was lost.');
  expect(messageWithout('')).toBe('It was lost.');
  expect(nameLostNodes({ kind: 'aborted' }, wave, { isPresent: () => false })).toEqual({ kind: 'aborted' });
});
