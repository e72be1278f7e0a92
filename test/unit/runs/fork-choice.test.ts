import { describe, expect, it } from 'vitest';
import { chooseForkPoint, type ForkPoint } from '../../../core/protocol/history/history.ts';

const savedAt = '2026-01-02T03:04:05.000Z';
const state = (name: string, epoch: number, attempt = 2): ForkPoint => ({
  name,
  kind: 'state',
  attempt,
  epoch,
  step: 10 * (epoch + 1),
  savedAt,
});
const checkpoint = (name: string, epoch: number, attempt = 2): ForkPoint => ({
  ...state(name, epoch, attempt),
  kind: 'checkpoint',
});

const points = [
  checkpoint('epoch-00001', 1, 1),
  state('attempt-1/round-3', 2, 1),
  checkpoint('attempt-1/ensemble-best', 2, 1),
  checkpoint('ensemble-best', 7),
  state('round-8', 7),
  state('round-9', 8),
  checkpoint('epoch-00008', 8),
  checkpoint('final', 9),
];

describe('chooseForkPoint', () => {
  it('takes the newest state as the last point, and without states the newest checkpoint', () => {
    expect(chooseForkPoint('r', points, { by: 'last' }).name).toBe('round-9');
    const checkpoints = points.filter(({ kind }) => kind === 'checkpoint');
    expect(chooseForkPoint('r', checkpoints, { by: 'last' }).name).toBe('final');
  });

  it("takes the run's own best, from the state of that step if there is one", () => {
    expect(chooseForkPoint('r', points, { by: 'best' }).name).toBe('round-8');
    const without = points.filter(({ name }) => name !== 'round-8');
    expect(chooseForkPoint('r', without, { by: 'best' }).name).toBe('ensemble-best');
  });

  it('takes of an epoch the state, or else the checkpoint', () => {
    expect(chooseForkPoint('r', points, { by: 'epoch', epoch: 8 }).name).toBe('round-9');
    expect(chooseForkPoint('r', points, { by: 'epoch', epoch: 1 }).name).toBe('epoch-00001');
    expect(chooseForkPoint('r', points, { by: 'epoch', epoch: 2 }).name).toBe('attempt-1/round-3');
  });

  it('takes a point by its name', () => {
    expect(chooseForkPoint('r', points, { by: 'name', name: 'attempt-1/ensemble-best' }).attempt).toBe(1);
  });

  it('names the points that there are', () => {
    expect(() => chooseForkPoint('r', points.slice(0, 2), { by: 'epoch', epoch: 4 })).toThrow(
      'The run r has no state or checkpoint of epoch 5 to fork from. ' +
        'It has: epoch-00001 (epoch 2), attempt-1/round-3 (epoch 3).',
    );
    expect(() => chooseForkPoint('r', [], { by: 'last' })).toThrow('It has saved nothing that all members share.');
  });
});
