import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { appendLoads } from '../../../src-main/store/metrics/device-loads.ts';
import { MetricsLog } from '../../../src-main/store/metrics/metrics-log.ts';
import { appendEvent, createRunFolder, writeRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { tryHubLock } from '../../../src-main/store/runs/hub-lock.ts';
import { controlTokenPath } from '../../../src-main/runs/control/control-socket.ts';
import { listeningSocket } from '../store/fixtures.ts';
import { pointBatch, runEvent, runRecord } from '../store/records.ts';
import { openService } from './page.ts';

const id = 'run-1';
const request = { names: [], maximumPoints: 100, fromStep: null, toStep: null };

/**
 * A run that another process trains: its hub holds the lock and has a socket that closes every connection, and the test
 * writes its files.
 */
async function openForeignRun() {
  const opened = await openService();
  const folder = join(opened.home, 'home', 'runs', id);
  const socket = await listeningSocket(opened.home);
  await writeFile(controlTokenPath(socket), 'token');
  const device = { id: 'cpu:0', kind: 'cpu', index: 0, name: 'Core', memoryTotalBytes: null } as const;
  const cpu = { ...device, memoryUsedBytes: null, load: null, processCount: null };
  const record = runRecord({
    status: 'running',
    hub: { host: hostname(), pid: process.pid, socket },
    plan: [0, 1].map((rank) => ({ rank, wave: 0, device: cpu })),
  });
  await createRunFolder(folder, record);
  const lock = tryHubLock(folder);
  onTestFinished(() => lock?.release());
  await opened.page.hub.runs({});
  const metrics = await MetricsLog.open(folder, { ranks: [0, 1], onError: (error) => opened.errors.push(error) });
  return { ...opened, folder, record, metrics };
}

describe('a run of another process', () => {
  it('is followed through its folder: record, events and points, each once', async () => {
    const { page, folder, record, metrics, errors } = await openForeignRun();
    metrics.append(0, pointBatch([[0, 1, 'train/member_0_loss', 0.5]]));
    await metrics.flush();
    await page.hub.watch(id);
    expect(await page.hub.run(id)).toMatchObject({
      isInReach: true,
      metrics: ['train/member_0_loss'],
      ranks: [
        { rank: 0, seed: 42, deviceName: 'Core', state: 'training', step: 1, loss: 0.5, pid: null },
        { rank: 1, seed: 43, state: 'starting', loss: null },
      ],
    });

    metrics.append(1, pointBatch([[0, 2, 'val/ens_nll', Number.NaN]]));
    await metrics.flush();
    await appendEvent(folder, runEvent({ kind: 'checkpoint', rank: 1 }));
    await expect.poll(() => page.updates.map(({ type }) => type).sort()).toEqual(['event', 'points']);
    const points = page.updates.find((update) => update.type === 'points');
    expect(points?.batch).toMatchObject({
      names: ['val/ens_nll'],
      step: Int32Array.of(2),
      value: Float64Array.of(NaN),
    });

    await metrics.close();
    await writeRunRecord(folder, { ...record, status: 'finished', hub: null });
    await expect.poll(() => page.updates.at(-1)).toMatchObject({ type: 'ended', record: { status: 'finished' } });
    expect(page.updates).toHaveLength(3);
    expect(errors).toEqual([]);
  });

  it('also reads the loads of its devices there', async () => {
    const { page, folder, metrics, errors } = await openForeignRun();
    const load = { device: 'cpu:0', load: 0.5, memoryUsedBytes: null };
    const [first, second] = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:01.000Z'];
    await appendLoads(folder, { time: first, loads: [load] });
    await page.hub.watch(id);
    expect(await page.hub.deviceLoads(id)).toEqual([
      {
        device: 'cpu:0',
        timeMs: Float64Array.of(Date.parse(first)),
        load: Float64Array.of(0.5),
        memoryBytes: Float64Array.of(NaN),
      },
    ]);
    await appendLoads(folder, { time: second, loads: [load] });
    await expect.poll(() => page.updates).toEqual([{ type: 'device-loads', time: second, loads: [load] }]);
    await metrics.close();
    expect(errors).toEqual([]);
  });

  it('can be read repeatedly without a subscription', async () => {
    const { page, metrics } = await openForeignRun();
    expect(await page.hub.series(id, request)).toEqual({ series: [] });
    metrics.append(0, pointBatch([[0, 1, 'a', 1]]));
    await metrics.flush();
    expect((await page.hub.series(id, request)).series).toEqual([
      { name: 'a', epoch: Int32Array.of(0), step: Int32Array.of(1), value: Float64Array.of(1), total: 1 },
    ]);
    expect(page.updates).toEqual([]);
    await metrics.close();
  });

  it('sends nothing after the subscriber has left', async () => {
    const { page, metrics } = await openForeignRun();
    await page.hub.watch(id);
    await page.hub.watch(id);
    await page.hub.unwatch(id);
    metrics.append(0, pointBatch([[0, 1, 'a', 1]]));
    await metrics.flush();
    expect((await page.hub.series(id, request)).series).toHaveLength(1);
    expect(page.updates).toEqual([]);
    await metrics.close();
  });

  it.each([
    ['is not an event', '{"kind":"no event"}\n'],
    ['is not whole JSON', '{"time":"2026-01-02T'],
  ])('is read past a damaged event, which %s, with one warning', async (problem, damage) => {
    const { page, folder, errors } = await openForeignRun();
    await appendEvent(folder, runEvent({ message: 'first' }));
    await page.hub.watch(id);
    const path = join(folder, 'events.jsonl');
    await appendFile(path, damage);
    await appendEvent(folder, runEvent({ message: 'second' }));
    const told = (type: string) => page.updates.filter((update) => update.type === type);
    await expect.poll(() => told('event').length).toBe(1);
    expect(told('warning')).toEqual([
      { type: 'warning', message: expect.stringContaining(`${path}, line 2 ${problem}`) },
    ]);
    await appendEvent(folder, runEvent({ message: 'third' }));
    await expect.poll(() => told('event').length).toBe(2);
    expect(told('warning')).toHaveLength(1);
    const { events, warnings } = await page.hub.run(id);
    expect(events.map(({ message }) => message)).toEqual(['first', 'second', 'third']);
    expect(warnings).toHaveLength(1);
    expect(errors).toEqual([]);
  });

  it('cannot be controlled if its process does not answer or runs on another machine', async () => {
    const { page, folder, record } = await openForeignRun();
    const rule = `Process ${process.pid}, which trains the run ${id}, cannot be reached`;
    await expect(page.hub.control(id, { action: 'stop' })).rejects.toThrow(rule);
    await expect(page.hub.abort(id)).rejects.toThrow(rule);
    await expect(page.hub.deleteRun(id)).rejects.toThrow('Stop it before deleting it');
    await writeRunRecord(folder, { ...record, hub: { host: 'elsewhere', pid: 7, socket: '/nowhere' } });
    await expect(page.hub.control(id, { action: 'pause' })).rejects.toThrow(
      `The run ${id} is trained by process 7 on elsewhere, whose socket /nowhere does not exist here.`,
    );
    expect(await page.hub.run(id)).toMatchObject({ isInReach: false });
  });
});

describe('series', () => {
  it('keep a spike among 100,000 points, and all points of a small range with a neighbour on each side', async () => {
    const { page, folder } = await openForeignRun();
    const rows = Array.from({ length: 100_000 }, (_, step) => `${step >> 10},${step},${step === 54_321 ? 1e9 : 1}\n`);
    await writeFile(join(folder, 'metrics.csv'), `epoch,step,a\n${rows.join('')}`);
    const [thinned] = (await page.hub.series(id, { ...request, maximumPoints: 500 })).series;
    expect(thinned.total).toBe(100_000);
    expect(thinned.step.length).toBeLessThanOrEqual(500);
    const spike = thinned.step.indexOf(54_321);
    expect([thinned.value[spike], thinned.epoch[spike]]).toEqual([1e9, 53]);
    const range = { names: ['a', 'absent'], maximumPoints: 100, fromStep: 54_320, toStep: 54_322 };
    const { series } = await page.hub.series(id, range);
    expect(series).toHaveLength(1);
    expect([...series[0].step]).toEqual([54_319, 54_320, 54_321, 54_322, 54_323]);
  });
});

describe('logs', () => {
  it('are merged by time, newest last, even from long files', async () => {
    const { page, folder } = await openForeignRun();
    const line = (minute: number, text: string): string =>
      `2026-01-02T03:${String(minute).padStart(2, '0')}:05.000Z ${text}\n`;
    await mkdir(join(folder, 'logs'));
    const long = Array.from({ length: 5000 }, (_, index) => line(1, `old ${index} ${'.'.repeat(40)}`));
    await writeFile(join(folder, 'logs', 'rank-0.log'), `${long.join('')}${line(3, 'third')}${line(5, 'fifth')}half`);
    await writeFile(join(folder, 'logs', 'rank-1.log'), `${line(2, 'second')}${line(4, 'fourth')}`);
    const newest = await page.hub.logs(id, { ranks: [], limit: 4 });
    expect(newest.map(({ rank, text }) => [rank, text])).toEqual([
      [1, 'second'],
      [0, 'third'],
      [1, 'fourth'],
      [0, 'fifth'],
    ]);
    expect(newest[0].time).toBe('2026-01-02T03:02:05.000Z');
    const own = await page.hub.logs(id, { ranks: [0], limit: 4000 });
    expect(own).toHaveLength(4000);
    expect(own[0].text).toMatch(/^old 1002 /);
    await rm(join(folder, 'logs'), { recursive: true });
    expect(await page.hub.logs(id, { ranks: [], limit: 4 })).toEqual([]);
  });
});
