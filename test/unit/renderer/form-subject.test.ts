import { noPermissions } from '../../../core/protocol/run/permissions.ts';
import { describe, expect, it } from 'vitest';
import { describeOptions } from '../../../core/options/index.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import type { RunPreview } from '../../../core/protocol/pages/project-views.ts';
import { forkedRun, newRun, resumedRun } from '../../../src-renderer/views/configure/form-subject.ts';
import { runRecord } from '../store/records.ts';

const preview: RunPreview = {
  config: null,
  problems: [],
  plan: [],
  devices: [],
  grants: [],
  diskBytes: null,
  freeBytes: 0,
  durationSeconds: null,
  leastRankBytes: null,
  workers: null,
  blasAdvice: null,
  commandLine: '',
};

/** A hub that records its requests. */
function fakeHub() {
  const calls: unknown[][] = [];
  const note =
    <Answer>(name: string, answer: Answer) =>
    (...values: unknown[]): Promise<Answer> => {
      calls.push([name, ...values]);
      return Promise.resolve(answer);
    };
  const hub = {
    previewRun: note('previewRun', preview),
    startRun: note('startRun', { id: 'new', sweep: null }),
    enqueueRun: note('enqueueRun', { id: 'waiting-1', place: 3 }),
    previewResume: note('previewResume', preview),
    resumeRun: note('resumeRun', undefined),
    previewFork: note('previewFork', preview),
    startFork: note('startFork', { id: 'fork' }),
  };
  return { hub, calls };
}

const config = runConfigSchema.parse({ members: 3, maxEpochs: 7, optimizer: { kind: 'sgd', learningRate: 0.5 } });
const record = runRecord({ config, changed: { learningRate: 0.25 } });
const strategyOf = (kind: 'data-parallel' | 'sharded') => runConfigSchema.parse({ strategy: { kind } }).strategy;
const request = { overrides: { maxEpochs: 9 }, name: 'mine', out: '/runs/mine' };

describe('the form of a run', () => {
  it('starts a new run under its name and in its folder', async () => {
    const { hub, calls } = fakeHub();
    const description = {
      name: 'Blobs',
      description: 'Of points.',
      task: 'classification' as const,
      hasOwnLoss: false,
      permissions: noPermissions,
      hyperparameters: [],
      defaults: {},
    };
    const options = describeOptions(runConfigSchema);
    const project = { description, options, defaults: runConfigSchema.parse({}) };
    const subject = newRun(hub, '/blobs', project, record);
    expect(subject).toMatchObject({ title: 'Blobs', origin: `as in ${record.name}`, kind: 'new' });
    expect(subject.initial).toEqual({
      members: 3,
      maxEpochs: 7,
      optimizer: { kind: 'sgd', learningRate: 0.5 },
    });
    expect(await subject.begin(request)).toEqual({ id: 'new', sweep: null });
    await subject.preview(request);
    expect(await subject.wait?.(request)).toBe(3);
    const whole = { projectFolder: '/blobs', ...request };
    expect(calls).toEqual([
      ['startRun', whole],
      ['previewRun', whole],
      ['enqueueRun', whole],
    ]);
  });

  it('starts with the current values of a resumed run, and sends only changes', async () => {
    const { hub, calls } = fakeHub();
    const subject = resumedRun(hub, record);
    expect(subject).toMatchObject({ kind: 'resume', initial: {}, standardName: 'current' });
    expect(subject.standard).toMatchObject({ maxEpochs: 7, optimizer: { kind: 'sgd', learningRate: 0.25 } });
    const paths = subject.options.map(({ path }) => path);
    expect(paths).toContain('maxEpochs');
    expect(paths).not.toContain('members');
    expect(await subject.begin(request)).toEqual({ id: record.id, sweep: null });
    await subject.preview(request);
    expect(calls).toEqual([
      ['resumeRun', record.id, { maxEpochs: 9 }, null, false],
      ['previewResume', record.id, { maxEpochs: 9 }, false],
    ]);
  });

  it.each(['data-parallel', 'sharded'] as const)('lets a resume change the number of ranks: %s', (kind) => {
    const subject = resumedRun(fakeHub().hub, runRecord({ config: { ...config, strategy: strategyOf(kind) } }));
    expect(subject.options.map(({ path }) => path)).toContain('members');
  });

  it.each([
    ['state', 'It continues exactly from the state round-50, after epoch 5 (step 50).'],
    [
      'checkpoint',
      'It takes the weights of round-50, after epoch 5 (step 50), and continues with epoch 6. Optimizer, ' +
        'callbacks and strategy start anew.',
    ],
  ] as const)(
    'says where a fork of a %s begins, starts with the values there, and sends only changes',
    async (kind, begins) => {
      const { hub, calls } = fakeHub();
      const point = { name: 'round-50', kind, attempt: 1, epoch: 4, step: 50, savedAt: record.createdAt };
      const subject = forkedRun(hub, 'run-1', { point, name: 'first', project: record.project, config });
      expect(subject).toMatchObject({ title: 'Fork of first', kind: 'fork', initial: {}, standardName: 'origin' });
      expect(subject.description).toBe(`${begins} The other run stays as it is.`);
      expect(subject.standard).toEqual(config);
      expect(subject.options.map(({ path }) => path)).not.toContain('members');
      expect(await subject.begin(request)).toEqual({ id: 'fork', sweep: null });
      await subject.preview(request);
      expect(calls).toEqual([
        ['startFork', 'run-1', { point: 'round-50', ...request }],
        ['previewFork', 'run-1', { point: 'round-50', ...request }],
      ]);
    },
  );
});
