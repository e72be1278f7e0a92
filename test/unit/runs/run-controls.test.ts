import { describe, expect, it } from 'vitest';
import { type RunConfigInput, runConfigSchema } from '../../../core/protocol/run/config.ts';
import type { Control } from '../../../core/protocol/run/messages.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { RunControls } from '../../../src-main/runs/control/run-controls.ts';
import { changeConfig, checkChanges } from '../../../src-main/runs/configuration/resolve-config.ts';
import type { RunRecorder } from '../../../src-main/runs/recording/run-recorder.ts';

/** Controls of a run that trains. @returns what reaches its ranks too */
function controlsOf(input: RunConfigInput, attempt: Partial<RunRecord['attempts'][number]> = {}) {
  const record = { config: runConfigSchema.parse(input), plan: [0, 1], attempts: [attempt] } as unknown as RunRecord;
  const recorder = { record, event: () => {}, keep: () => {} } as unknown as RunRecorder;
  const sent: Control[] = [];
  const controls = new RunControls();
  controls.begin(recorder);
  controls.enter({
    control: (control) => void sent.push(control),
    states: () => new Map([0, 1].map((rank) => [rank, 'training' as const])),
    position: () => ({ epoch: 0, step: 0 }),
  });
  return { take: (control: Control) => controls.take(control), sent };
}

const hdet = (options: object = {}, more: RunConfigInput = {}): RunConfigInput => ({
  schedule: { kind: 'one-cycle' },
  ...more,
  strategy: { kind: 'hdet', ...options } as never,
});
const rate: Control = { action: 'set', changes: { learningRate: 0.5 } };

describe('a control without effect is refused, and reaches no rank', () => {
  it.each<[title: string, RunConfigInput, earlier: Control[], refused: Control, reason: string]>([
    ['a rate that hdet adapts', hdet(), [], rate, 'The strategy hdet adapts the learning rate itself'],
    ['a second pause', {}, [{ action: 'pause' }], { action: 'pause' }, 'The run is paused already'],
    ['the end of no pause', {}, [], { action: 'resume' }, 'The run is not paused'],
    [
      'the end of a pause that a stop has ended',
      {},
      [{ action: 'pause' }, { action: 'stop' }],
      { action: 'resume' },
      'The run is not paused',
    ],
    [
      'a second stop at the end of the epoch',
      {},
      [{ action: 'stop-at-epoch-end' }],
      { action: 'stop-at-epoch-end' },
      'stops at the end of its epoch already',
    ],
    [
      'a checkpoint after a stop',
      {},
      [{ action: 'stop' }],
      { action: 'checkpoint', name: 'mine' },
      'no rank does another step at which it could save',
    ],
    ['a checkpoint that the end replaces', {}, [], { action: 'checkpoint', name: 'final' }, "of the run's own"],
    [
      'a checkpoint that the best replaces',
      {},
      [],
      { action: 'checkpoint', name: 'ensemble-best' },
      "of the run's own",
    ],
    ['a checkpoint that is not kept', {}, [], { action: 'checkpoint', name: 'top-00003' }, "of the run's own"],
  ])('%s', (_title, config, earlier, refused, reason) => {
    const { take, sent } = controlsOf(config);
    for (const control of earlier) take(control);
    expect(() => take(refused)).toThrow(reason);
    expect(sent).toEqual(earlier);
  });

  it('a rate or patience where a missing member is trained as the others were', () => {
    const { take, sent } = controlsOf({}, { completes: [1] });
    expect(() => take(rate)).toThrow('trains a missing member as the others were trained');
    expect(sent).toEqual([]);
  });
});

it.each<[string, RunConfigInput]>([
  ['hdet without adaptation', hdet({ adapt: false })],
  ['hdet without spread', hdet({ spread: 0 })],
  ['hdet that adapts another scalar', hdet({ diverge: ['dropout'] })],
  ['data-parallel ranks', { strategy: { kind: 'data-parallel' } }],
])('the rate of %s can be set', (_title, config) => {
  const { take, sent } = controlsOf(config);
  take(rate);
  expect(sent).toEqual([rate]);
});

describe('a resume of hdet', () => {
  const before = runConfigSchema.parse(
    hdet(
      { diverge: ['learningRate', 'weightDecay', 'focus'] },
      { optimizer: { kind: 'adamw', learningRate: 0.02 }, hyperparameters: { focus: 2 } },
    ),
  );

  it.each([
    ['optimizer.learningRate', { optimizer: { learningRate: 0.5 } }, 'from 0.02 to 0.5'],
    ['optimizer.weightDecay', { optimizer: { weightDecay: 0.5 } }, 'from 0.01 to 0.5'],
    ['hyperparameters.focus', { hyperparameters: { focus: 3 } }, 'from 2 to 3'],
    ['strategy.decay', { strategy: { decay: 0.1 } }, 'from null to 0.1'],
  ])('refuses another %s, which it would not use', (path, override, values) => {
    expect(() => changeConfig(before, override)).toThrow(`${path} cannot change ${values}: the strategy hdet adapts`);
    expect(checkChanges(before, override).problems.map((problem) => problem.path)).toEqual([path]);
  });

  it('takes them where the adaptation ends, and others in any case', () => {
    const ended = { optimizer: { learningRate: 0.5 }, strategy: { adapt: false } };
    expect(changeConfig(before, ended).optimizer.learningRate).toBe(0.5);
    expect(changeConfig(before, { maxEpochs: 20 }).maxEpochs).toBe(20);
    expect(changeConfig(before, { optimizer: { beta1: 0.5 } }).optimizer).toMatchObject({ beta1: 0.5 });
  });
});
