import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyControl,
  type ControlState,
  controlsToReplay,
  initialControlState,
} from '../../../core/protocol/run/control-state.ts';
import type { Control } from '../../../core/protocol/run/messages.ts';

const seed = 20261122;

function applyAll(controls: readonly Control[], from: ControlState = initialControlState): ControlState {
  return controls.reduce(applyControl, from);
}

const controls: fc.Arbitrary<Control> = fc.oneof(
  fc.constantFrom<Control>(
    { action: 'stop' },
    { action: 'stop-at-epoch-end' },
    { action: 'pause' },
    { action: 'resume' },
    { action: 'checkpoint', name: 'asked' },
  ),
  fc.nat({ max: 3 }).map((rank): Control => ({ action: 'stop-rank', rank })),
  fc
    .record({ learningRate: fc.double({ min: 0.001, max: 1 }), patience: fc.integer({ min: 1 }) }, { requiredKeys: [] })
    .map((changes): Control => ({ action: 'set', changes })),
);

describe('the state after controls', () => {
  it.each<[string, Control[], Partial<ControlState>]>([
    ['a pause lasts until a resume', [{ action: 'pause' }], { isPaused: true }],
    ['a resume ends it', [{ action: 'pause' }, { action: 'resume' }], { isPaused: false }],
    ['a stop ends it', [{ action: 'pause' }, { action: 'stop' }], { isPaused: false, isStopping: true }],
    ['no pause follows a stop', [{ action: 'stop' }, { action: 'pause' }], { isPaused: false, isStopping: true }],
    [
      'a stop at the end of the epoch ends a pause',
      [{ action: 'pause' }, { action: 'stop-at-epoch-end' }],
      { isPaused: false, isStoppingAtEpochEnd: true, isStopping: false },
    ],
    [
      'a pause may follow a stop at the end of the epoch',
      [{ action: 'stop-at-epoch-end' }, { action: 'pause' }],
      { isPaused: true, isStoppingAtEpochEnd: true },
    ],
    [
      'ranks stop once each',
      [
        { action: 'stop-rank', rank: 2 },
        { action: 'stop-rank', rank: 0 },
        { action: 'stop-rank', rank: 2 },
      ],
      { stoppedRanks: [2, 0] },
    ],
    [
      'the last value of each setting holds',
      [
        { action: 'set', changes: { learningRate: 0.1, patience: 3 } },
        { action: 'set', changes: { learningRate: 0.2 } },
      ],
      { settings: { learningRate: 0.2, patience: 3 } },
    ],
    ['a checkpoint leaves no trace', [{ action: 'checkpoint', name: 'asked' }], initialControlState],
  ])('%s', (_title, given, expected) => {
    expect(applyAll(given)).toMatchObject(expected);
  });

  it('does not change with a repeated control', () => {
    fc.assert(
      fc.property(fc.array(controls), controls, (earlier, control) => {
        const once = applyAll([...earlier, control]);
        expect(applyControl(once, control)).toEqual(once);
      }),
      { seed },
    );
  });

  it('is never paused once all ranks are stopping', () => {
    fc.assert(
      fc.property(fc.array(controls), fc.array(controls), (before, after) => {
        expect(applyAll([...before, { action: 'stop' }, ...after])).toMatchObject({
          isStopping: true,
          isPaused: false,
        });
      }),
      { seed },
    );
  });

  it('does not mutate the earlier state', () => {
    fc.assert(
      fc.property(fc.array(controls), controls, (earlier, control) => {
        const state = applyAll(earlier);
        const copy = structuredClone(state);
        applyControl(state, control);
        expect(state).toEqual(copy);
      }),
      { seed },
    );
  });
});

describe('controls replayed to ranks that join later', () => {
  it('are those that still apply', () => {
    const given: Control[] = [
      { action: 'pause' },
      { action: 'stop-rank', rank: 1 },
      { action: 'resume' },
      { action: 'checkpoint', name: 'asked' },
      { action: 'stop-at-epoch-end' },
      { action: 'pause' },
    ];
    expect(controlsToReplay(applyAll(given))).toEqual([
      { action: 'stop-at-epoch-end' },
      { action: 'stop-rank', rank: 1 },
      { action: 'pause' },
    ]);
  });

  it('give a rank that joins later the same state in any order; settings come with its launch', () => {
    fc.assert(
      fc.property(fc.array(controls), (given) => {
        const state = applyAll(given);
        const launched = { ...initialControlState, settings: state.settings };
        expect(applyAll(controlsToReplay(state), launched)).toEqual(state);
      }),
      { seed },
    );
  });
});
