import { createPinia } from 'pinia';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSSRApp, effectScope, type EffectScope } from 'vue';
import type { DeviceLoadColumns } from '../../../core/protocol/machine/devices.ts';
import type { RunUpdate } from '../../../core/protocol/pages/run-updates.ts';
import { HubClient } from '../../../src-renderer/client/hub-client.ts';
import { hubClientKey } from '../../../src-renderer/client/use-hub.ts';
import { type RunStore, useRunStore } from '../../../src-renderer/stores/run.ts';
import { FakeHub } from './fake-hub.ts';
import { attempt, runRecord, runView } from './run-fixtures.ts';

/** Points of one metric. Each value is a tenth of its step. */
function points(...steps: number[]): RunUpdate {
  return {
    type: 'points',
    rank: 0,
    batch: {
      names: ['train/loss'],
      nameIndex: new Int32Array(steps.length),
      epoch: new Int32Array(steps.length),
      step: Int32Array.from(steps),
      value: Float64Array.from(steps, (step) => step / 10),
      timeMs: new Float64Array(steps.length),
    },
  };
}

/** Columns of the only device. */
function loads(timeMs: number[], load: number[]): DeviceLoadColumns {
  const memoryBytes = new Float64Array(load.length).fill(NaN);
  return { device: 'cpu:0', timeMs: Float64Array.from(timeMs), load: Float64Array.from(load), memoryBytes };
}

let hub: FakeHub;
let calls: string[];
let onDisk: number[];
let scope: EffectScope;
let open: () => RunStore;

beforeEach(() => {
  hub = new FakeHub();
  calls = [];
  onDisk = [10, 20];
  hub.api = {
    watch: () => void calls.push('watch'),
    unwatch: () => void calls.push('unwatch'),
    run: () => runView(),
    deviceLoads: () => [loads([1000], [0.5])],
    series: () => {
      calls.push('series');
      const step = Int32Array.from(onDisk);
      const value = Float64Array.from(onDisk, (at) => at / 10);
      return { series: [{ name: 'train/loss', epoch: new Int32Array(step.length), step, value, total: step.length }] };
    },
  };
  const app = createSSRApp({}).use(createPinia());
  app.provide(hubClientKey, new HubClient(hub));
  hub.last.opened();
  scope = effectScope();
  open = () => app.runWithContext(() => scope.run(() => useRunStore('r'))) ?? expect.fail('The scope has ended.');
});
afterEach(() => scope.stop());

const stepsOf = (store: RunStore): number[] => {
  const columns = store.columns.get('train/loss');
  return columns === undefined ? [] : [...columns.step.subarray(0, columns.length)];
};
const tell = (...updates: RunUpdate[]): void => hub.page?.runUpdates('r', updates);
async function settled(store: RunStore): Promise<void> {
  await expect
    .poll(() => ({ isLoading: store.isLoading, hasView: store.view !== null }))
    .toEqual({ isLoading: false, hasView: true });
}

describe('a run on a page', () => {
  it('is read, then followed', async () => {
    const store = open();
    await settled(store);
    expect(stepsOf(store)).toEqual([10, 20]);
    tell(points(30), { type: 'worker', rank: 0, state: 'training', epoch: 1, step: 30, pid: 77 });
    await expect.poll(() => stepsOf(store)).toEqual([10, 20, 30]);
    expect(store.ranks[0]).toMatchObject({ state: 'training', step: 30, pid: 77 });
    tell({ type: 'ended', record: runRecord({ status: 'finished' }) });
    await expect.poll(() => store.status).toBe('finished');
  });

  it('neither loses nor repeats updates that arrive during the read', async () => {
    hub.api.watch = () => tell(points(20, 30));
    const store = open();
    await settled(store);
    await expect.poll(() => stepsOf(store)).toEqual([10, 20, 30]);
  });

  it('has each load sample of its devices once', async () => {
    const store = open();
    await settled(store);
    const sample = (timeMs: number, load: number | null): RunUpdate => ({
      type: 'device-loads',
      time: new Date(timeMs).toISOString(),
      loads: [{ device: 'cpu:0', load, memoryUsedBytes: null }],
    });
    tell(sample(1000, 0.5), sample(2000, 0.75), sample(3000, null));
    await expect.poll(() => store.deviceLoads.get('cpu:0')).toEqual(loads([1000, 2000, 3000], [0.5, 0.75, NaN]));
  });

  it('is reread after a resume, because steps are recomputed', async () => {
    const store = open();
    await settled(store);
    tell(points(30, 40));
    await expect.poll(() => stepsOf(store)).toEqual([10, 20, 30, 40]);
    const version = store.columns.get('train/loss')?.version ?? NaN;
    const resumed = runRecord({ attempts: [attempt(1), attempt(2)] });
    hub.api.run = () => ({ ...runView(), record: resumed });
    tell({ type: 'record', record: resumed, folder: '/runs/r' });
    await expect.poll(() => stepsOf(store)).toEqual([10, 20]);
    expect(store.columns.get('train/loss')?.version).toBe(version + 1);
  });

  it('catches up when the hub is back', async () => {
    const store = open();
    await settled(store);
    onDisk = [10, 20, 30, 40];
    hub.last.closed(false);
    await expect.poll(() => hub.listeners).toHaveLength(2);
    hub.last.opened();
    await expect.poll(() => stepsOf(store)).toEqual([10, 20, 30, 40]);
    expect(calls.filter((call) => call === 'watch')).toHaveLength(2);
  });

  it('says why it cannot be read', async () => {
    hub.api.run = () => {
      throw new Error('There is no run r.');
    };
    const store = open();
    await expect.poll(() => store.error).toBe('There is no run r.');
    expect(store.isLoading).toBe(false);
  });

  it('is followed once for all users, and dropped with the last one', async () => {
    const store = open();
    expect(open()).toBe(store);
    await settled(store);
    expect(calls).toEqual(['watch', 'series']);
    scope.stop();
    await expect.poll(() => calls).toEqual(['watch', 'series', 'unwatch']);
    scope = effectScope();
    const again = open();
    expect(again.view).toBeNull();
    await settled(again);
    expect(stepsOf(again)).toEqual([10, 20]);
  });
});
