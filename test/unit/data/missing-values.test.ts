import fc from 'fast-check';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TableReading } from '../../../core/preprocessing/reading.ts';
import { missingTest } from '../../../workers/data/tables/cells.ts';
import { parseTable, readTable } from '../../../workers/data/tables/read-table.ts';
import { tableBlocks } from '../../../workers/data/tables/table-blocks.ts';
import { tableOfRows } from '../../../workers/inference/inputs.ts';
import { goldenFile } from '../../golden/read-golden.ts';
import { temporaryFolder } from './temp-folder.ts';

const numbersOf = ({ columns }: { columns: readonly { values: ArrayLike<unknown> }[] }) =>
  columns.flatMap(({ values }) => Array.from(values));

describe('a text that stands for a missing value', () => {
  it.each([
    ['the number in other spellings', '-999', ['-999', '-999.0', '-9.99e+02', -999, -999n], ['-0999', '999', -998]],
    ['a number that float32 rounds', '-999.9', [-999.9, Math.fround(-999.9), '-999.90'], [-999.8]],
    ['the largest double', '1.7976931348623157e+308', [Number.MAX_VALUE], [Infinity]],
    ['codes as they are written', '099', ['099'], ['99', 99]],
    ['a date', '1900-01-01', ['1900-01-01', new Date('1900-01-01')], [new Date('1900-01-02'), 1900]],
    ['true and false', 'false', [false, 'false'], [true, 0]],
    ['itself alone', '?', ['?', null, Number.NaN], ['', 'NaN', '??']],
  ])('means %s', (_, text, missing, present) => {
    const isMissing = missingTest([text]);
    expect(missing.map(isMissing)).toEqual(missing.map(() => true));
    expect(present.map(isMissing)).toEqual(present.map(() => false));
  });

  it.each(['passengers.csv', 'passengers.jsonl', 'passengers.parquet', 'passengers.arrow'])(
    'holds for the numbers of %s',
    async (name) => {
      // The ages are 64, 38, 53, 10, 75, 48, 55 and a missing one.
      const table = await parseTable(await readFile(goldenFile(`tables/${name}`)), name, {
        missingValues: ['', '38', '-999'],
      });
      const age = table.columns[1].values.slice(0, 8);
      expect([...age]).toEqual([64, Number.NaN, 53, 10, 75, 48, 55, Number.NaN]);
    },
  );

  it('holds for integers of all sizes and floats of Arrow', async () => {
    const bytes = await readFile(goldenFile('tables/types.arrow'));
    const { columns, reading } = await parseTable(bytes, 'types.arrow', { missingValues: ['7', '-1.5'] });
    const rows = (name: string) => [...(columns.find((own) => own.name === name)?.values.slice(0, 5) ?? [])];
    for (const name of ['int8', 'uint8', 'int16', 'uint16']) {
      expect(rows(name)).toEqual([0, 1, 100, Number.NaN, Number.NaN]);
    }
    expect(rows('float')).toEqual([0, Number.NaN, 0.0625, Number.NaN, 65504]);
    const missing = reading?.columns.find(({ name }) => name === 'int8')?.missing;
    expect(Object.keys(missing ?? {}).sort()).toEqual(['', '7']);
  });

  it('is the same in each format, at training and at prediction', async () => {
    const folder = await temporaryFolder();
    const number = fc.oneof(fc.integer({ min: -999, max: 9 }), fc.constantFrom(-999, -99.5, 0.25, 1e20));
    const drawn = fc.record({
      spelling: fc.constantFrom('-999', '-999.0', '-9.99e+02'),
      // The first row says that the column has numbers.
      values: fc.array(number, { minLength: 1, maxLength: 8 }).map((rest) => [1, ...rest]),
    });
    await fc.assert(
      fc.asyncProperty(drawn, async ({ spelling, values }) => {
        const expected = values.map((value) => (value === -999 ? Number.NaN : value));
        const texts: Record<string, string> = {
          'd.csv': `x,y\n${values.map((value) => `${value},0\n`).join('')}`,
          'decimals.csv': `x,y\n${values.map((value) => `${value.toExponential()},0\n`).join('')}`,
          'd.jsonl': values.map((x) => `${JSON.stringify({ x, y: 0 })}\n`).join(''),
          'texts.jsonl': values.map((x) => `${JSON.stringify({ x: x.toFixed(2), y: 0 })}\n`).join(''),
        };
        for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text);
        await writeParquet(join(folder, 'd.parquet'), values);
        let reading: TableReading | undefined;
        for (const name of [...Object.keys(texts), 'd.parquet']) {
          const options = { missingValues: ['', spelling], columns: { y: 'ignore' as const } };
          const table = await readTable(join(folder, name), options);
          expect([name, numbersOf(table)]).toEqual([name, expected]);
          // Whatever the format of the training table.
          reading ??= table.reading;
          const blocks = tableBlocks(join(folder, name), { types: { x: 'number' }, reading: reading ?? null });
          const found: unknown[] = [];
          for await (const block of blocks) found.push(...numbersOf(block));
          expect([name, found]).toEqual([name, expected]);
        }
        const preprocessing = { format: 1 as const, steps: [], featureNames: ['x'], ...(reading && { reading }) };
        const rows = tableOfRows(
          values.map((x, i) => ({ x: i % 2 === 0 ? x : String(x) })),
          preprocessing,
        );
        expect(numbersOf(rows)).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });
});

async function writeParquet(path: string, x: readonly number[]): Promise<void> {
  const writer = new ParquetWriter({
    writer: fileWriter(path),
    schema: [
      { name: 'root', num_children: 2 },
      { name: 'x', type: 'DOUBLE', repetition_type: 'REQUIRED' },
      { name: 'y', type: 'DOUBLE', repetition_type: 'REQUIRED' },
    ],
  });
  const columnData = [
    { name: 'x', data: x },
    { name: 'y', data: x.map(() => 0) },
  ];
  await writer.write({ columnData });
  await writer.finish();
}
