import { describe, expect, it } from 'vitest';
import { Controls } from '../../../../workers/training/controls.ts';

describe('a pause', () => {
  it('lasts until a resume', () => {
    const controls = new Controls();
    controls.take({ action: 'pause' });
    expect(controls.isPaused).toBe(true);
    controls.take({ action: 'resume' });
    expect(controls).toMatchObject({ isPaused: false, stopRequested: false });
  });

  it('ends with a stop, after which pauses have no effect', () => {
    const controls = new Controls();
    controls.take({ action: 'pause' });
    controls.take({ action: 'stop' });
    controls.take({ action: 'pause' });
    expect(controls).toMatchObject({ isPaused: false, stopRequested: true });
  });

  it('continues through other signals, each of which wakes the waiter', async () => {
    const controls = new Controls();
    controls.take({ action: 'pause' });
    const woken = controls.next();
    controls.take({ action: 'checkpoint', name: 'asked' });
    await woken;
    expect(controls).toMatchObject({ isPaused: true, checkpointNames: ['asked'] });
  });
});

describe('a settings change', () => {
  it('overrides earlier values and keeps settings that it does not name', () => {
    const controls = new Controls();
    controls.take({ action: 'set', changes: { learningRate: 0.1, patience: 3 } });
    controls.take({ action: 'set', changes: { learningRate: 0.2 } });
    expect(controls.settings).toEqual({ learningRate: 0.2, patience: 3 });
  });
});

describe('a stop at the end of the epoch', () => {
  it('counts as a stop but not an immediate one, and ends a pause', () => {
    const controls = new Controls();
    controls.take({ action: 'pause' });
    controls.take({ action: 'stop-at-epoch-end' });
    expect(controls).toMatchObject({ stopReceived: true, stopRequested: false, isPaused: false });
  });
});
