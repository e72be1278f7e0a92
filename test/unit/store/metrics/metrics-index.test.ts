import { existsSync } from 'node:fs';
import { appendFile, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeRpc, encodeRpc } from '../../../../core/protocol/pages/rpc.ts';
import { FollowedRun } from '../../../../src-main/hub/followed-run.ts';
import { readMetricsIndex } from '../../../../src-main/store/index/metrics-index.ts';
import { createRunFolder } from '../../../../src-main/store/runs/run-folder.ts';
import { temporaryFolder } from '../fixtures.ts';
import { runRecord } from '../records.ts';

const rowCount = 200_000;
/** Each step has a different value, and there is one spike. */
const valueAt = (step: number): number => (step === 123_456 ? 1000 : Math.sin(step));
const rows = (from: number, to: number): string =>
  Array.from(
    { length: to - from },
    (_, at) => `${Math.floor((from + at) / 1000)},${from + at},${valueAt(from + at)},\n`,
  ).join('');

async function openLarge() {
  const folder = join(await temporaryFolder(), 'run');
  await createRunFolder(folder, runRecord({ status: 'finished' }));
  const [metrics, index] = [join(folder, 'metrics.csv'), join(folder, 'metrics.index')];
  await writeFile(metrics, `epoch,step,a,b\n${rows(0, rowCount)}`);
  return { folder, metrics, index, run: await FollowedRun.open(folder) };
}

const held = (run: FollowedRun, name: string) => {
  const column = run.columns.get(name);
  if (column === undefined) throw new Error(`There is no ${name}.`);
  const { length, total, step, epoch, value } = column;
  return { total, step: step.slice(0, length), epoch: epoch.slice(0, length), value: value.slice(0, length) };
};

describe('the index of a large metrics file', () => {
  it('gives the same points as the file, and reading continues where the index ends', async () => {
    const { folder, metrics, index, run } = await openLarge();
    expect(existsSync(index)).toBe(true);
    const again = await FollowedRun.open(folder);
    expect(held(again, 'a')).toEqual(held(run, 'a'));
    await appendFile(metrics, rows(rowCount, rowCount + 3));
    const longer = held(await FollowedRun.open(folder), 'a');
    expect(longer.total).toBe(rowCount + 3);
    expect(longer.step.slice(-3)).toEqual(Int32Array.of(rowCount, rowCount + 1, rowCount + 2));
    expect(longer.value).toContain(1000);
  });

  it.each([
    [
      'the last row of the metrics differs',
      async (metrics: string) => truncate(metrics, (await readFile(metrics)).length - 4),
    ],
    ['the columns differ', async (metrics: string) => writeFile(metrics, `epoch,step,c\n0,1,2\n`)],
    ['the metrics are gone', (metrics: string) => writeFile(metrics, '')],
  ])('ignores an index if %s', async (_what, change) => {
    const { folder, metrics } = await openLarge();
    await change(metrics);
    expect(await readMetricsIndex(folder)).toBeNull();
  });

  it.each([
    ['cut short', (bytes: Buffer) => bytes.subarray(0, bytes.length - 8)],
    ['of another version', (bytes: Buffer) => encodeRpc({ ...Object(decodeRpc(bytes)), version: 0 })],
    ['something else', () => Buffer.from('hello')],
  ])('ignores an index that is %s, and rebuilds it', async (_what, damage) => {
    const { folder, index, run } = await openLarge();
    const whole = await readFile(index);
    await writeFile(index, damage(whole));
    expect(await readMetricsIndex(folder)).toBeNull();
    expect(held(await FollowedRun.open(folder), 'a')).toEqual(held(run, 'a'));
    expect(await readFile(index)).toEqual(whole);
  });

  it('is not built for a few rows', async () => {
    const folder = join(await temporaryFolder(), 'run');
    await createRunFolder(folder, runRecord({ status: 'finished' }));
    await writeFile(join(folder, 'metrics.csv'), `epoch,step,a,b\n${rows(0, 100)}`);
    await FollowedRun.open(folder);
    expect(existsSync(join(folder, 'metrics.index'))).toBe(false);
  });
});

describe('a range of steps', () => {
  const steps = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

  it('is read completely, also through an index', async () => {
    const { folder } = await openLarge();
    const run = await FollowedRun.open(folder);
    expect(run.columns.get('a')?.isThinned).toBe(true);
    const column = (await run.readBetween(['a', 'b'], 77_777, 88_888)).get('a');
    expect([...(column?.step.slice(0, column.length) ?? [])]).toEqual(steps(77_777, 88_888));
    expect([...(column?.value.slice(0, column.length) ?? [])]).toEqual(steps(77_777, 88_888).map(valueAt));
    expect(run.bytesBetween(77_777, 88_888)).toBeLessThan(2 ** 20);
  });

  it('is found in a file rewritten with more columns, and the tail yields its new rows later', async () => {
    const { metrics, run } = await openLarge();
    const wider = (await readFile(metrics, 'utf8')).replaceAll('\n', ',\n').replace('b,\n', 'b,c\n');
    await writeFile(`${metrics}.new`, `${wider}200,${rowCount},0.5,,7\n`);
    await rename(`${metrics}.new`, metrics);
    const column = (await run.readBetween(['a'], 1000, 1002)).get('a');
    expect([...(column?.value.slice(0, column.length) ?? [])]).toEqual([1000, 1001, 1002].map(valueAt));
    const [update] = await run.refresh();
    expect(update).toMatchObject({ type: 'points', batch: { names: ['a', 'c'] } });
  });
});
