import { describe, expect, it } from 'vitest';
import { Controls } from '../../../../workers/training/controls.ts';

describe('a pause', () => {
  it('lasts until it is resumed', () => {
    const controls = new Controls();
    controls.take({ action: 'pause' });
    expect(controls.isPaused).toBe(true);
    controls.take({ action: 'resume' });
    expect(controls).toMatchObject({ isPaused: false, stopRequested: false });
  });

  it('ends with a stop, after which there is none', () => {
    const controls = new Controls();
    controls.take({ action: 'pause' });
    controls.take({ action: 'stop' });
    controls.take({ action: 'pause' });
    expect(controls).toMatchObject({ isPaused: false, stopRequested: true });
  });

  it('goes on through other signals, each of which wakes who waits', async () => {
    const controls = new Controls();
    controls.take({ action: 'pause' });
    const woken = controls.next();
    controls.take({ action: 'checkpoint', name: 'asked' });
    await woken;
    expect(controls).toMatchObject({ isPaused: true, checkpointNames: ['asked'] });
  });
});

describe('a setting', () => {
  it('is what was asked for last; those that were not named stay', () => {
    const controls = new Controls();
    controls.take({ action: 'set', changes: { learningRate: 0.1, patience: 3 } });
    controls.take({ action: 'set', changes: { learningRate: 0.2 } });
    expect(controls.settings).toEqual({ learningRate: 0.2, patience: 3 });
  });
});

describe('a stop at the end of the epoch', () => {
  it('is an end, but none at once, and ends a pause', () => {
    const controls = new Controls();
    controls.take({ action: 'pause' });
    controls.take({ action: 'stop-at-epoch-end' });
    expect(controls).toMatchObject({ stopReceived: true, stopRequested: false, isPaused: false });
  });
});
