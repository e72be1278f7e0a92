import { appendFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MetricsFile } from '../../../../src-main/store/metrics/metrics-file.ts';
import { MetricsTail } from '../../../../src-main/store/metrics/metrics-tail.ts';
import { temporaryFolder } from '../fixtures.ts';

type Point = [metric: string, epoch: number, step: number, value: number];

/** A tail of an empty folder, and a function that returns what each read yields. */
async function openTail() {
  const folder = await temporaryFolder();
  const tail = new MetricsTail(folder);
  const read = async () => {
    const points: Point[] = [];
    const damages: string[] = [];
    let resets = 0;
    await tail.read({
      point: (...point) => void points.push(point),
      damaged: ({ message }) => void damages.push(message),
      reset: () => {
        resets += 1;
        points.splice(0);
      },
    });
    return { points, resets, damages };
  };
  return { path: join(folder, 'metrics.csv'), read, tail };
}

const row = (epoch: number, step: number, values: Record<string, number>) => ({
  epoch,
  step,
  values: new Map(Object.entries(values)),
});

describe('MetricsTail', () => {
  it('reads each row once, and nothing before the file exists', async () => {
    const { path, read } = await openTail();
    expect(await read()).toEqual({ points: [], resets: 0, damages: [] });
    await writeFile(path, 'epoch,step,a,b\n0,1,0.5,NaN\n');
    expect((await read()).points).toEqual([
      ['a', 0, 1, 0.5],
      ['b', 0, 1, Number.NaN],
    ]);
    expect((await read()).points).toEqual([]);
    await appendFile(path, '0,2,,-Infinity\n');
    expect((await read()).points).toEqual([['b', 0, 2, -Infinity]]);
  });

  it('knows the byte range of the rows of a range of steps', async () => {
    const { path, read, tail } = await openTail();
    const rows = Array.from({ length: 60_000 }, (_, step) => `0,${step},0.5\n`).join('');
    await writeFile(path, `epoch,step,a\n${rows}`);
    await read();
    expect(tail.bytesBetween(0, 59_999)).toBe(rows.length);
    expect(tail.bytesBetween(60_000, 70_000)).toBe(0);
    const ofOne = tail.bytesBetween(30_000, 30_000);
    expect(ofOne).toBeGreaterThan(0);
    expect(ofOne).toBeLessThan(rows.length / 2);
  });

  it('waits until a torn line is complete', async () => {
    const { path, read } = await openTail();
    await writeFile(path, 'epoch,step,a\n0,1,0.2');
    expect((await read()).points).toEqual([]);
    await appendFile(path, '5\n0,2,0.1');
    expect((await read()).points).toEqual([['a', 0, 1, 0.25]]);
    await appendFile(path, '\n');
    expect((await read()).points).toEqual([['a', 0, 2, 0.1]]);
  });

  it('follows a file that repeatedly gets more columns, without reading a value twice', async () => {
    const { path, read } = await openTail();
    const file = await MetricsFile.open(path);
    await file.append([row(0, 1, { a: 1 })]);
    expect((await read()).points).toEqual([['a', 0, 1, 1]]);
    // Rewritten twice between two reads: the third file may have the first one's inode.
    await file.append([row(0, 2, { a: 2, b: 20 })]);
    await file.append([row(0, 3, { c: 300 })]);
    expect(await read()).toEqual({
      points: [
        ['a', 0, 2, 2],
        ['b', 0, 2, 20],
        ['c', 0, 3, 300],
      ],
      resets: 0,
      damages: [],
    });
    await file.append([row(1, 4, { d: 4 })]);
    expect(await read()).toEqual({ points: [['d', 1, 4, 4]], resets: 0, damages: [] });
  });

  it('starts over where a resumed run has dropped rows, even when it has written the same number since', async () => {
    const { path, read } = await openTail();
    const first = await MetricsFile.open(path);
    await first.append([row(0, 1, { a: 1 }), row(0, 2, { a: 2 }), row(0, 3, { a: 3 })]);
    await read();
    const second = await MetricsFile.open(path, { step: 1, rows: Infinity });
    await second.append([row(0, 2, { a: 22 })]);
    const again: Point[] = [
      ['a', 0, 1, 1],
      ['a', 0, 2, 22],
    ];
    expect(await read()).toEqual({ points: again, resets: 1, damages: [] });
    const third = await MetricsFile.open(path, { step: 1, rows: Infinity });
    await third.append([row(0, 2, { a: 222, b: 1 }), row(0, 3, { a: 3 })]);
    const { points, resets } = await read();
    expect([points[1], resets]).toEqual([['a', 0, 2, 222], 1]);
  });

  it('names a damaged row once and skips it, and reads everything again once the file is corrected', async () => {
    const { path, read } = await openTail();
    await writeFile(path, 'epoch,step,a\n0,1,1\n0,2\n0,3,x\n0,4,4\n');
    const { points, damages } = await read();
    expect(points).toEqual([
      ['a', 0, 1, 1],
      ['a', 0, 4, 4],
    ]);
    expect(damages).toEqual([
      expect.stringMatching(/metrics\.csv, line 3 is "0,2", but a row has epoch and step/),
      expect.stringContaining('line 4, column a: "x" is no number'),
    ]);
    await appendFile(path, '0,5,5\n');
    expect(await read()).toEqual({ points: [['a', 0, 5, 5]], resets: 0, damages: [] });
    await writeFile(`${path}.tmp`, 'epoch,step,a\n0,1,1\n0,2,2\n0,3,3\n0,4,4\n0,5,5\n');
    await rename(`${path}.tmp`, path);
    const corrected = await read();
    expect(corrected).toMatchObject({ resets: 1, damages: [] });
    expect(corrected.points).toHaveLength(5);
  });

  it('reads a range of steps without its damaged rows', async () => {
    const { path, read, tail } = await openTail();
    await writeFile(path, 'epoch,step,a\n0,1,1\n0,2,x\n\0\0\0\n0,3,3\n');
    await read();
    const column = (await tail.readBetween(['a'], 1, 3))?.get('a');
    expect([...(column?.step.subarray(0, column.length) ?? [])]).toEqual([1, 3]);
  });

  it('reads a file larger than its buffer', async () => {
    const { path, read } = await openTail();
    const rows = Array.from({ length: 150_000 }, (_, step) => `0,${step},${step}.5\n`);
    await writeFile(path, `epoch,step,a\n${rows.join('')}`);
    const { points } = await read();
    expect(points).toHaveLength(150_000);
    expect(points.every(([, , step, value]) => value === step + 0.5)).toBe(true);
    await rm(path);
    expect(await read()).toEqual({ points: [], resets: 0, damages: [] });
  });
});
