import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { missingTest } from '../../../workers/data/tables/cells.ts';
import { parseDelimited } from '../../../workers/data/tables/raw-table.ts';
import { typedColumn } from '../../../workers/data/tables/columns.ts';
import { parseNumberRows } from '../../../workers/data/tables/number-rows.ts';

const isMissing = missingTest(['', 'NA', 'NaN', '?']);
const comma = 0x2c;

const read = (text: string, width: number, wanted: number[]) =>
  parseNumberRows(Buffer.from(text), { delimiter: comma, width, wanted, isMissing })?.map((column) => [...column]) ??
  null;

describe('rows of numbers', () => {
  it('are read by columns, with missing values, blanks and all line ends', () => {
    expect(read('1,2.5,-3\r\n\n +4 ,NA,.5\r?,6.,7e-1', 3, [0, 2, 1])).toEqual([
      [1, 4, NaN],
      [-3, 0.5, 0.7],
      [2.5, NaN, 6],
    ]);
  });

  it('may have other fields, which are passed over', () => {
    expect(read('a,1\nb c,2\n', 2, [1])).toEqual([[1, 2]]);
  });

  it.each(['1,"2"\n', '1\n', '1,2,3\n', '1,x\n', '1,0x10\n', '1,1e39\n', '1,2 3\n', '1,-\n', '1,\u00a02\n', '1,2\n3'])(
    'are left to the reader of any text where they are not that simple: %j',
    (text) => {
      expect(read(text, 2, [0, 1])).toBeNull();
    },
  );

  it('are the values that the reader of any text finds', () => {
    const field = fc.oneof(
      fc.double({ noNaN: true, min: -1e30, max: 1e30 }).map(String),
      fc.tuple(fc.integer(), fc.nat(20)).map(([value, decimals]) => (value / 1000).toFixed(decimals)),
      fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }).map(String),
      fc.constantFrom('NA', '', '?', ' 1', '2 ', '+3', '.25', '7.', '1E5', '00012.50'),
    );
    // A row of empty fields alone may be blank.
    const rows = fc.array(fc.tuple(field, field, fc.integer().map(String)), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(rows, (cells) => {
        const text = `${cells.map((row) => row.join(',')).join('\n')}\n`;
        const raw = parseDelimited(Buffer.from(text), 'numbers.csv', isMissing, { delimiter: ',', header: false });
        const expected = [0, 1, 2].map((column) => [...(typedColumn(raw, column, 'number').values as Float64Array)]);
        expect(read(text, 3, [0, 1, 2])).toEqual(expected);
      }),
      { seed: 20_26, numRuns: 500 },
    );
  });
});
