import { expect, it } from 'vitest';
import type { RunRow } from '../../../core/protocol/pages/run-list.ts';
import { endedIds, noticeOfEnd } from '../../../core/protocol/pages/window.ts';
import { memberCount } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import { NonFiniteLossError } from '../../../workers/training/rendezvous.ts';

const training: RunRow = {
  id: 'run-1',
  folder: '/runs/run-1',
  name: 'Wide net',
  project: 'Two moons',
  projectFolder: '/projects/two-moons',
  task: 'classification',
  strategy: 'independent',
  status: 'running',
  members: memberCount(4),
  best: null,
  createdAt: '2026-11-21T08:00:00.000Z',
  endedAt: null,
  trainedSeconds: 0,
  startedAt: '2026-11-21T08:00:00.000Z',
  error: null,
  notFinite: null,
  origin: null,
  sweep: null,
  tags: [],
  note: '',
  isArchived: false,
};
const diverged = new NonFiniteLossError({ rank: 2, epoch: 3, step: 40 }).message;

it.each<[string, string, Partial<RunRow>]>([
  ['Wide net has finished', 'Two moons', { status: 'finished' }],
  [
    'Wide net has finished',
    'Two moons: best val/ens_nll 0.1235 at epoch 13',
    { status: 'finished', best: { metric: 'val/ens_nll', value: 0.123456, epoch: 12 } },
  ],
  ['Wide net was stopped', 'Two moons', { status: 'stopped' }],
  ['Wide net was interrupted', 'Two moons', { status: 'interrupted' }],
  [
    'Wide net failed',
    'Worker of rank 1 ended with code 7.',
    { status: 'failed', error: 'Worker of rank 1 ended with code 7.\nIts log' },
  ],
  ['Wide net diverged', diverged, { status: 'failed', error: diverged }],
])('%s: %s', (title, body, end) => {
  expect(noticeOfEnd({ ...training, ...end })).toEqual({ id: 'run-1', title, body });
});

it('notifies only of ends that it observed', () => {
  const other: RunRow = { ...training, id: 'run-2', status: 'created' };
  expect(endedIds([], [training])).toEqual([]);
  expect(endedIds([training], [{ ...training, name: 'Renamed' }, other])).toEqual([]);
  expect(endedIds([training, other], [training])).toEqual(['run-2']);
});
