import fc from 'fast-check';
import { execFile } from 'node:child_process';
import { readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readMetrics } from '../../../integration/metric-table.ts';
import type { LogClock, MetricsLogOptions } from '../../../../src-main/store/metrics/metrics-log.ts';
import { MetricsLog } from '../../../../src-main/store/metrics/metrics-log.ts';
import { temporaryFolder } from '../fixtures.ts';
import { pointBatch } from '../records.ts';
import { notLinux, notRun } from '../../../environment/reasons.ts';

/** A clock that moves only when the test advances it. */
function manualClock() {
  let nowMs = 0;
  const ticks = new Set<() => void>();
  const clock: LogClock = {
    nowMs: () => nowMs,
    every(_intervalMs, tick) {
      ticks.add(tick);
      return () => ticks.delete(tick);
    },
  };
  return {
    clock,
    isTicking: () => ticks.size > 0,
    advance: (milliseconds: number) => {
      nowMs += milliseconds;
      for (const tick of ticks) tick();
    },
  };
}

async function openLog(folder: string, options: Partial<MetricsLogOptions> = {}) {
  const manual = manualClock();
  const errors: unknown[] = [];
  const log = await MetricsLog.open(folder, {
    ranks: [0, 1],
    onError: (error) => errors.push(error),
    clock: manual.clock,
    ...options,
  });
  onTestFinished(() => log.close().catch(() => undefined));
  return { log, errors, ...manual };
}

const csv = (folder: string) => readFile(join(folder, 'metrics.csv'), 'utf8');

/** The content of the file after the next tick wrote it. */
async function csvWithLines(folder: string, count: number): Promise<string> {
  await expect.poll(async () => (await csv(folder)).split('\n').length - 1, { interval: 1 }).toBe(count);
  return csv(folder);
}

describe('MetricsLog', () => {
  it('writes one row per (epoch, step) for all ranks, in Lightning columns', async () => {
    const folder = await temporaryFolder();
    const { log } = await openLog(folder);
    log.append(
      0,
      pointBatch([
        [0, 10, 'train/loss', 0.5],
        [0, 10, 'val/member_0_nll', 1.25],
      ]),
    );
    log.append(
      1,
      pointBatch([
        [0, 10, 'val/member_1_nll', 1.5],
        [1, 20, 'val/member_1_nll', 1e-7],
      ]),
    );
    await log.close();
    expect(await csv(folder)).toBe(
      'epoch,step,train/loss,val/member_0_nll,val/member_1_nll\n0,10,0.5,1.25,1.5\n1,20,,,1e-7\n',
    );
  });

  it('holds a row until every rank has passed it, and then writes it', async () => {
    const folder = await temporaryFolder();
    const { log, advance } = await openLog(folder);
    log.append(0, pointBatch([[0, 1, 'a', 1], [0, 2, 'a', 2]])); // prettier-ignore
    advance(200);
    log.append(1, pointBatch([[0, 1, 'b', 3]]));
    advance(200);
    log.append(1, pointBatch([[0, 2, 'b', 4]]));
    advance(200);
    expect(await csvWithLines(folder, 2)).toBe('epoch,step,a,b\n0,1,1,3\n');
    await log.close();
    expect(await csv(folder)).toBe('epoch,step,a,b\n0,1,1,3\n0,2,2,4\n');
  });

  it('waits only for the ranks of the wave', async () => {
    const folder = await temporaryFolder();
    const { log, advance } = await openLog(folder);
    log.append(0, pointBatch([[0, 1, 'a', 1], [0, 2, 'a', 2]])); // prettier-ignore
    log.setRanks([0]);
    advance(200);
    expect(await csvWithLines(folder, 2)).toBe('epoch,step,a\n0,1,1\n');
  });

  it('writes an incomplete row after 5 s, and readers merge values that arrive later', async () => {
    const folder = await temporaryFolder();
    const { log, advance } = await openLog(folder);
    log.append(0, pointBatch([[0, 1, 'a', 1]]));
    advance(4_900);
    log.append(0, pointBatch([[0, 1, 'b', 2]]));
    advance(100);
    expect(await csvWithLines(folder, 2)).toBe('epoch,step,a,b\n0,1,1,2\n');
    log.append(1, pointBatch([[0, 1, 'c', 3]]));
    await log.close();
    expect(await csv(folder)).toBe('epoch,step,a,b,c\n0,1,1,2,\n0,1,,,3\n');
    const table = await readMetrics(folder);
    expect(table.step).toEqual(Int32Array.of(1));
    expect([...table.values.values()]).toEqual([1, 2, 3].map((value) => Float64Array.of(value)));
  });

  it('adds the column of a new metric without losing a row', async () => {
    const folder = await temporaryFolder();
    const { log } = await openLog(folder);
    log.append(0, pointBatch([[0, 1, 'a', 1]]));
    await log.flush();
    log.append(0, pointBatch([[0, 2, 'b', 2]]));
    await log.flush();
    log.append(0, pointBatch([[0, 3, 'a', 3], [0, 3, 'c', 4]])); // prettier-ignore
    await log.close();
    expect(await csv(folder)).toBe('epoch,step,a,b,c\n0,1,1,,\n0,2,,2,\n0,3,3,,4\n');
    expect(await readdir(folder)).toEqual(['metrics.csv']);
  });

  it('reads back every double exactly, and distinguishes NaN from absent', async () => {
    const folder = await temporaryFolder();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.double(), { minLength: 1, maxLength: 20 }), async (values) => {
        await rm(join(folder, 'metrics.csv'), { force: true });
        const { log } = await openLog(folder);
        log.append(0, pointBatch([[0, values.length, 'other', 0]]));
        log.append(0, pointBatch(values.map((value, step) => [0, step, 'metric', value])));
        await log.close();
        const table = await readMetrics(folder);
        expect(table.values.get('metric')).toEqual(Float64Array.of(...values, Number.NaN));
        expect(table.present.get('metric')).toEqual(Uint8Array.of(...values.map(() => 1), 0));
      }),
      { numRuns: 50 },
    );
  });

  it('writes NaN and infinities in a form that other readers parse', async () => {
    const folder = await temporaryFolder();
    const { log } = await openLog(folder);
    const values = [Number.NaN, Infinity, -Infinity, -0, 0.1, 5e-324];
    log.append(0, pointBatch(values.map((value, step) => [0, step, 'a', value])));
    await log.close();
    expect(await csv(folder)).toBe('epoch,step,a\n0,0,NaN\n0,1,Infinity\n0,2,-Infinity\n0,3,-0\n0,4,0.1\n0,5,5e-324\n');
  });

  it.each(['', 'epoch', 'a,b', 'a"b', 'a\nb'])(
    'refuses a metric named %j together with its whole batch',
    async (name) => {
      const folder = await temporaryFolder();
      const { log } = await openLog(folder);
      expect(() => log.append(0, pointBatch([[0, 1, 'a', 1], [0, 1, name, 1]]))).toThrow('cannot name a metric'); // prettier-ignore
      await log.close();
      expect(await csv(folder)).toBe('epoch,step\n');
    },
  );
});

describe('MetricsLog after a crash', () => {
  it.each(['0,3,', '0,3,7', '0'])('removes the torn line %j and continues', async (torn) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'metrics.csv'), `epoch,step,a\n0,1,1\n0,2,2\n${torn}`);
    expect((await readMetrics(folder)).step).toEqual(Int32Array.of(1, 2));
    const { log } = await openLog(folder);
    log.append(0, pointBatch([[0, 3, 'a', 3]]));
    await log.close();
    expect(await csv(folder)).toBe('epoch,step,a\n0,1,1\n0,2,2\n0,3,3\n');
  });

  it.each(['', 'epoch,st'])('starts over where not even the header was complete (%j)', async (torn) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'metrics.csv'), torn);
    const { log } = await openLog(folder);
    await log.close();
    expect(await csv(folder)).toBe('epoch,step\n');
  });

  it('drops the rows that a resumed run recomputes, and keeps a copy of each attempt', async () => {
    const folder = await temporaryFolder();
    const before = 'epoch,step,a\n0,10,1\n1,20,2\n1,30,3\n0,15,4\n';
    await writeFile(join(folder, 'metrics.csv'), `${before}1,3`);
    const first = await openLog(folder, { kept: { step: 20, rows: Infinity } });
    first.log.append(0, pointBatch([[1, 30, 'a', 5]]));
    await first.log.close();
    expect(await csv(folder)).toBe('epoch,step,a\n0,10,1\n1,20,2\n0,15,4\n1,30,5\n');
    expect(await readFile(join(folder, 'metrics.attempt-1.csv'), 'utf8')).toBe(`${before}1,3`);
    await (await openLog(folder, { kept: { step: 10, rows: Infinity } })).log.close();
    expect(await csv(folder)).toBe('epoch,step,a\n0,10,1\n');
    expect((await readdir(folder)).sort()).toEqual(['metrics.attempt-1.csv', 'metrics.attempt-2.csv', 'metrics.csv']);
  });

  it('drops the rows after those that belong to a state, and counts the others', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'metrics.csv'), 'epoch,step,a\n0,10,1\n1,20,2\n0,15,4\n1,20,3\n');
    const { log } = await openLog(folder, { kept: { step: 20, rows: 3 } });
    expect(await csv(folder)).toBe('epoch,step,a\n0,10,1\n1,20,2\n0,15,4\n');
    expect(await log.flush()).toBe(3);
    log.append(0, pointBatch([[1, 21, 'b', 5]]));
    expect(await log.flush()).toBe(4);
    await log.close();
    const all = await openLog(folder);
    expect(await all.log.flush()).toBe(4);
    await all.log.close();
  });

  it('refuses a file that is not a metrics file', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'metrics.csv'), 'time,loss\n1,2\n');
    await expect(openLog(folder)).rejects.toThrow('metrics.csv begins with "time,loss"');
    expect(await csv(folder)).toBe('time,loss\n1,2\n');
  });
});

describe('MetricsLog when the disk fails', () => {
  it('reports the failure once, loses nothing, and writes everything on the next request', async () => {
    const folder = await temporaryFolder();
    const { log, errors, advance, isTicking } = await openLog(folder);
    log.append(0, pointBatch([[0, 1, 'a', 1]]));
    await log.flush();
    // A new metric needs the folder. Removing the folder fails half way, like a full disk.
    const aside = `${folder}-aside`;
    await rename(folder, aside);
    log.append(0, pointBatch([[0, 2, 'b', 2]]));
    await expect(log.flush()).rejects.toThrow(/Cannot write .*metrics\.csv.*ENOENT/);
    log.append(0, pointBatch([[0, 3, 'b', 3]]));
    advance(5_000);
    await expect.poll(() => errors.length, { interval: 1 }).toBe(1);
    expect(isTicking()).toBe(false);
    await rename(aside, folder);
    await log.close();
    expect(await csv(folder)).toBe('epoch,step,a,b\n0,1,1,\n0,2,,2\n0,3,,3\n');
  });

  it.skipIf(notLinux !== null)(`rolls back a partial write${notRun(notLinux)}`, async () => {
    const folder = await temporaryFolder();
    const script = join(import.meta.dirname, 'write-past-limit.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [script, folder]);
    expect(stdout).toMatch(/Cannot append to .*metrics\.csv.*\(EFBIG\)/);
    const table = await readMetrics(folder);
    expect(table.step).toEqual(Int32Array.from({ length: 2_001 }, (_, step) => step));
    expect((await csv(folder)).split('\n')).toHaveLength(2_003);
  });
});

describe('readMetrics', () => {
  const read = async (content: string) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'metrics.csv'), content);
    return readMetrics(folder);
  };

  it('gives an empty table for a run without metrics', async () => {
    const table = await readMetrics(await temporaryFolder());
    expect(table.columns).toEqual([]);
    expect(table.step).toHaveLength(0);
  });

  it('merges and sorts', async () => {
    const table = await read('epoch,step,a,b\n1,20,1,\n0,10,2,\n1,20,,3\n0,10,4,NaN\n');
    expect(table.epoch).toEqual(Int32Array.of(0, 1));
    expect(table.step).toEqual(Int32Array.of(10, 20));
    expect(table.values.get('a')).toEqual(Float64Array.of(4, 1));
    expect(table.values.get('b')).toEqual(Float64Array.of(Number.NaN, 3));
    expect(table.present.get('b')).toEqual(Uint8Array.of(1, 1));
  });

  it.each([
    ['epoch,step,a\n0,1,x\n', 'line 2, column a: "x" is no number'],
    ['epoch,step,a\n0,1\n', 'line 2 is "0,1", but a row has epoch and step, two whole numbers, and 1 more cells'],
    ['epoch,step,a\n0,1,1\n0.5,1,1\n', 'line 3 is "0.5,1,1"'],
    ['epoch,step,a\n,1,1\n', 'line 2 is ",1,1"'],
  ])('names the place of the damage in %j', async (content, message) => {
    await expect(read(content)).rejects.toThrow(message);
  });
});
