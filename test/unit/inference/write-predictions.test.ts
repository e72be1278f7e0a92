import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import type { PredictionColumn } from '../../../core/ensemble/columns.ts';
import { openWriter, type WriteOptions } from '../../../workers/inference/write-predictions.ts';

/** An interval without ends beside a mean that is not a number: each must stay what it is. */
const columns: PredictionColumn[] = [
  { name: 'mean', type: 'number', values: Float32Array.of(NaN, 1.5) },
  { name: 'lower', type: 'number', values: Float64Array.of(-Infinity, -Infinity) },
  { name: 'upper', type: 'number', values: Float64Array.of(Infinity, 2) },
];

async function written(
  format: WriteOptions['format'],
  own: readonly PredictionColumn[] = columns,
  formulaGuard: WriteOptions['formulaGuard'] = 'names',
): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'tutti-writers-')), `out.${format}`);
  const writer = await openWriter(path, { format, formulaGuard });
  await writer.write(own);
  await writer.finish();
  return path;
}

describe('infinite numbers and NaN', () => {
  it('keep their names in CSV', async () => {
    expect(await readFile(await written('csv'), 'utf8')).toBe(
      'mean,lower,upper\nNaN,-Infinity,Infinity\n1.5,-Infinity,2\n',
    );
  });

  it('are texts in JSON lines, which JSON.parse and Number read back', async () => {
    const lines = (await readFile(await written('jsonl'), 'utf8')).trim().split('\n');
    expect(lines[0]).toBe('{"mean":"NaN","lower":"-Infinity","upper":"Infinity"}');
    const rows = lines.map((line) => Object.values(JSON.parse(line) as object).map(Number));
    expect(rows).toEqual([
      [NaN, -Infinity, Infinity],
      [1.5, -Infinity, 2],
    ]);
  });

  it('are numbers in Parquet', async () => {
    const { buffer: file } = new Uint8Array(await readFile(await written('parquet')));
    const rows = await parquetReadObjects({ file, metadata: parquetMetadata(file), compressors: {} });
    expect(rows.map((row) => Object.values(row))).toEqual([
      [NaN, -Infinity, Infinity],
      [1.5, -Infinity, 2],
    ]);
  });
});

describe('texts that a spreadsheet would take for a formula', () => {
  const texts: PredictionColumn[] = [
    { name: '=file', type: 'text', values: ['@a', '-1', '+'] },
    { name: 'class', type: 'text', values: ['=x', '-1', '+'], areLabels: true },
  ];

  it.each([
    ['none', '=file,class\n@a,=x\n-1,-1\n+,+\n'],
    ['names', "'=file,class\n'@a,=x\n-1,-1\n+,+\n"],
    ['all', "'=file,class\n'@a,'=x\n-1,-1\n+,+\n"],
  ] as const)('get an apostrophe in CSV as asked: %s', async (guard, expected) => {
    expect(await readFile(await written('csv', texts, guard), 'utf8')).toBe(expected);
  });

  it('stay as they are in JSON lines', async () => {
    const [line] = (await readFile(await written('jsonl', texts, 'all'), 'utf8')).split('\n');
    expect(line).toBe('{"=file":"@a","class":"=x"}');
  });
});

it.each(['csv', 'jsonl'] as const)('numbers of any length are written to the end as %s', async (format) => {
  const values = Float64Array.from({ length: 500 }, (_, row) => -1.23456789e-300 * (row + 1));
  const text = await readFile(await written(format, [{ name: 'mean', type: 'number', values }]), 'utf8');
  const lines = text.trim().split('\n');
  const found = format === 'csv' ? lines.slice(1) : lines.map((line) => (JSON.parse(line) as { mean: number }).mean);
  expect(found.map(Number)).toEqual(Array.from(values, (value) => Number(value.toPrecision(9))));
});
