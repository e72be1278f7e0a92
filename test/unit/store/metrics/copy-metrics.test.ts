import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyMetrics } from '../../../../src-main/store/metrics/metrics-rewrite.ts';
import { temporaryFolder } from '../fixtures.ts';

const rows = ['epoch,step,train/loss', '0,5,0.5', '0,10,0.4', '1,15,0.3', '1,10,0.2'];

describe('copyMetrics', () => {
  it('copies the rows up to a step, and of those the first ones, and leaves the file as it was', async () => {
    const folder = await temporaryFolder();
    const [from, to] = [join(folder, 'a.csv'), join(folder, 'b.csv')];
    const text = `${rows.join('\n')}\n1,20`;
    await writeFile(from, text);
    expect(await copyMetrics(from, to, { step: 10, rows: Infinity })).toBe(3);
    expect(await readFile(to, 'utf8')).toBe(`${[rows[0], rows[1], rows[2], rows[4]].join('\n')}\n`);
    expect(await copyMetrics(from, to, { step: 15, rows: 2 })).toBe(2);
    expect(await readFile(to, 'utf8')).toBe(`${rows.slice(0, 3).join('\n')}\n`);
    expect(await readFile(from, 'utf8')).toBe(text);
  });

  it('makes an empty file of none', async () => {
    const folder = await temporaryFolder();
    expect(await copyMetrics(join(folder, 'none.csv'), join(folder, 'b.csv'), { step: 9, rows: 9 })).toBe(0);
    expect(await readFile(join(folder, 'b.csv'), 'utf8')).toBe('epoch,step\n');
  });
});
