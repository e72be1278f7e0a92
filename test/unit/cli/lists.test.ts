import { describe, expect, it } from 'vitest';
import { memberCount } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import { describeDevice, describeChecks } from '../../../src-main/cli/commands/machine.ts';
import { describeRuns } from '../../../src-main/cli/commands/runs.ts';
import { placementOf } from './records.ts';

const run = {
  id: '20261121-081502-blobs-3fa9',
  folder: '/runs/blobs',
  name: 'first',
  project: 'Blobs',
  projectFolder: '/projects/blobs',
  task: 'classification',
  strategy: 'independent',
  members: memberCount(2),
  status: 'finished',
  createdAt: '2026-11-21T08:15:02.000Z',
  endedAt: '2026-11-21T10:16:06.000Z',
  // Two attempts, with two hours between them.
  trainedSeconds: 64,
  startedAt: '2026-11-21T10:15:30.000Z',
  best: { metric: 'val/ens_nll', value: 0.41006, epoch: 9 },
  error: null,
  notFinite: null,
  origin: null,
  sweep: null,
  tags: [] as string[],
  note: '',
  isArchived: false,
} as const;

describe('describeRuns', () => {
  it('lists id, name, project, status, members, best, start and duration', () => {
    const going = { ...run, id: 'b', status: 'running', endedAt: null, best: null, trainedSeconds: 3600 } as const;
    const nowMs = Date.parse('2026-11-21T10:19:30.000Z');
    expect(describeRuns([run, going], { isFiltered: false, nowMs })).toEqual([
      'id                          name   project  status    members  best                 ' +
        'started               duration',
      '20261121-081502-blobs-3fa9  first  Blobs    finished        2  ens NLL 0.4101 @ 10  ' +
        '2026-11-21 08:15 UTC  1 m 04 s',
      'b                           first  Blobs    running         2  -                    ' +
        '2026-11-21 08:15 UTC  1 h 04 m',
    ]);
  });

  it('shows beside the status which ranks ended without finite metrics', () => {
    const failed = { ...run, notFinite: 'not finite: rank 1' };
    expect(describeRuns([failed], { isFiltered: false, nowMs: 0 })[1]).toContain('finished, not finite: rank 1 ');
  });

  it('says how to start when there are none', () => {
    expect(describeRuns([], { isFiltered: false, nowMs: 0 })[0]).toContain('Start one: npx tutti train <project>');
    expect(describeRuns([], { isFiltered: true, nowMs: 0 })).toEqual([
      'No run matches. `npx tutti runs --all` lists all runs, also archived ones.',
    ]);
  });
});

describe('describeDevice', () => {
  it('shows memory, load and processes, and whether this build can use the device', () => {
    const { device: core } = placementOf(0);
    expect(describeDevice({ ...core, load: 0.054 })).toEqual(['cpu:0', 'Core', '-', '5 %', '-', 'yes']);
    const gpu = { id: 'cuda:1', kind: 'cuda', index: 1, name: 'A100', load: 0.97, processCount: 2 } as const;
    const memory = { memoryTotalBytes: 80 * 2 ** 30, memoryUsedBytes: 1.5 * 2 ** 30 };
    expect(describeDevice({ ...gpu, ...memory })).toEqual([
      'cuda:1',
      'A100',
      '1.5 GiB of 80 GiB',
      '97 %',
      '2',
      'no backend in this build: npx tutti setup --gpu',
    ]);
  });
});

describe('describeChecks', () => {
  it('lists findings, then remedies', () => {
    expect(
      describeChecks([
        { name: 'node', status: 'ok', detail: 'v24' },
        { name: 'home', status: 'fail', detail: 'Cannot write.', remedy: 'Set TUTTI_HOME.' },
      ]),
    ).toEqual([
      '      check  found', //
      'ok    node   v24',
      'fail  home   Cannot write.',
      '',
      'home: Set TUTTI_HOME.',
    ]);
  });
});
