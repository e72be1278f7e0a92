import fc from 'fast-check';
import { link, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withMetricRows } from '../../../../src-main/store/metrics/metric-rows.ts';
import { MetricsFile } from '../../../../src-main/store/metrics/metrics-file.ts';
import { readMetrics } from '../../../integration/metric-table.ts';
import { temporaryFolder } from '../fixtures.ts';

/** Wide enough that a few thousand rows take several pieces of 256 KiB. */
const padding = '0.12345678901234567'.repeat(8);
const linesOf = (rows: readonly (readonly [epoch: number, step: number, value: number | null])[]) =>
  rows.map(([epoch, step, value]) => `${epoch},${step},${value ?? ''},${step === 0 ? '' : `1e${padding.length}`}\n`);

async function withFile(text: string): Promise<{ folder: string; path: string }> {
  const folder = await temporaryFolder();
  const path = join(folder, 'metrics.csv');
  await writeFile(path, text);
  return { folder, path };
}

const header = 'epoch,step,a,b\n';

describe('rows of a metrics file of several pieces', () => {
  it('come sorted and merged, however the lines of waves and of slow ranks are mixed', async () => {
    const position = fc.record({ epoch: fc.nat(3), step: fc.nat(40), value: fc.option(fc.double({ noNaN: true })) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(position, { maxLength: 60 }),
        fc.integer({ min: 1, max: 60 }),
        async (drawn, repeats) => {
          // Each drawn line stands for a stretch of lines, so that its neighbours lie in other pieces.
          const rows = drawn.flatMap(({ epoch, step, value }) =>
            Array.from({ length: repeats }, (_, i) => [epoch, 1 + 100 * step + i, value] as const),
          );
          const { folder } = await withFile(header + linesOf(rows).join(''));
          const expected = new Map<string, number | null>();
          for (const [epoch, step, value] of rows) {
            const key = `${epoch},${step}`;
            expected.set(key, value ?? expected.get(key) ?? null);
          }
          const sorted = [...expected].sort(([one], [other]) => {
            const [a, b] = [one, other].map((key) => key.split(',').map(Number));
            return a[0] - b[0] || a[1] - b[1];
          });
          const found: [string, number | null][] = [];
          await withMetricRows(folder, async (all) => {
            for await (const portion of all) {
              found.push(
                ...portion.map(({ epoch, step, cells }): [string, number | null] => [`${epoch},${step}`, cells[0]]),
              );
            }
          });
          expect(found).toEqual(sorted);
        },
      ),
      { numRuns: 40, seed: 12 },
    );
  });

  it('come in order from two waves of 1 MB each, and can be read twice', async () => {
    const wave = (value: number) => Array.from({ length: 40_000 }, (_, step) => [0, step, value] as const);
    const { folder, path } = await withFile(header + linesOf([...wave(1), ...wave(2)]).join(''));
    expect((await stat(path)).size).toBeGreaterThan(4 * 2 ** 18);
    await withMetricRows(folder, async (rows) => {
      for (let pass = 0; pass < 2; pass += 1) {
        let next = 0;
        for await (const portion of rows) {
          expect(portion.map(({ step }) => step)).toEqual(portion.map((_, i) => next + i));
          expect(portion.every(({ cells }) => cells[0] === 2)).toBe(true);
          next += portion.length;
        }
        expect(next).toBe(40_000);
      }
      expect(rows.lastStep).toBe(39_999);
    });
  });

  it('leave out damaged lines and name each once', async () => {
    const { folder } = await withFile(`${header}0,1,1,\n0,x,2,\n0,3,3\n0,4,four,\n0,5,5,\n`);
    const damage: string[] = [];
    const steps: number[] = [];
    const read = withMetricRows(
      folder,
      async (rows) => {
        for await (const portion of rows) steps.push(...portion.map(({ step }) => step));
      },
      ({ message }) => damage.push(message),
    );
    await read;
    expect(steps).toEqual([1, 5]);
    expect(damage.map((message) => /line \d+/.exec(message)?.[0])).toEqual(['line 3', 'line 4', 'line 5']);
  });
});

describe('a resume of a metrics file of several pieces', () => {
  const rows = Array.from({ length: 30_000 }, (_, step) => [0, step, step] as const);

  it('drops the later rows, and keeps the old file under another name without copying it', async () => {
    const text = header + linesOf(rows).join('');
    const { folder, path } = await withFile(`${text}0,30000,`);
    const before = await stat(path);
    const file = await MetricsFile.open(path, { step: 20_000, rows: Infinity });
    await file.append([{ epoch: 0, step: 20_001, values: new Map([['a', -1]]) }]);
    const { step, values } = await readMetrics(folder);
    expect(step).toEqual(Int32Array.from({ length: 20_002 }, (_, i) => i));
    expect(values.get('a')?.at(-1)).toBe(-1);
    const copy = join(folder, 'metrics.attempt-1.csv');
    expect((await stat(copy)).ino).toBe(before.ino);
    expect(await readFile(copy, 'utf8')).toBe(`${text}0,30000,`);
  });

  it('never appends to the kept file, also where a crash came before the replacement', async () => {
    const text = header + linesOf(rows.slice(0, 10)).join('');
    const { folder, path } = await withFile(text);
    await link(path, join(folder, 'metrics.attempt-1.csv'));
    const file = await MetricsFile.open(path);
    await file.append([{ epoch: 0, step: 99, values: new Map([['a', -1]]) }]);
    expect(await readFile(join(folder, 'metrics.attempt-1.csv'), 'utf8')).toBe(text);
    expect(await readFile(path, 'utf8')).toBe(`${text}0,99,-1,\n`);
  });

  it('cuts off a torn end of 40 MB that has no line break', async () => {
    const text = header + linesOf(rows.slice(0, 10)).join('');
    const { path } = await withFile(text);
    // Some file systems leave zeros where data was not written before a power cut.
    await truncate(path, 40_000_000);
    await MetricsFile.open(path);
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  it('refuses a line of more than 16 MiB, with its place', async () => {
    const { folder, path } = await withFile(`${header}0,1,1,\n0,2,${'9'.repeat(2 ** 24 + 2 ** 20)},\n0,3,1,\n`);
    await expect(MetricsFile.open(path)).rejects.toThrow('line at byte 22 is longer than 16777216 bytes');
    await expect(readMetrics(folder)).rejects.toThrow('line at byte 22 is longer than 16777216 bytes');
  });
});
