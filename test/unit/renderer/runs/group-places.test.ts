import { expect, it } from 'vitest';
import { countRows, groupText, placeAt, rowsBetween } from '../../../../src-renderer/views/runs/table/row-blocks.ts';

/** Three groups: closed, open with two runs, open with one. The list: A, B, b0, b1, C, c0. */
const groups = [{ rows: 0 }, { rows: 2 }, { rows: 1 }];

it('finds what is at each place of a list of groups', () => {
  expect(countRows(groups)).toBe(6);
  expect(Array.from({ length: 7 }, (_, index) => placeAt(groups, index))).toEqual([
    { group: 0, row: null },
    { group: 1, row: null },
    { group: 1, row: 0 },
    { group: 1, row: 1 },
    { group: 2, row: null },
    { group: 2, row: 0 },
    null,
  ]);
});

it('finds the runs in view of each open group', () => {
  expect(rowsBetween(groups, 0, 5)).toEqual([
    { group: 1, first: 0, last: 1 },
    { group: 2, first: 0, last: 0 },
  ]);
  expect(rowsBetween(groups, 3, 4)).toEqual([{ group: 1, first: 1, last: 1 }]);
  expect(rowsBetween(groups, 0, 1)).toEqual([]);
});

it('writes values so that a number, its text and nothing differ', () => {
  expect([groupText(1), groupText('1'), groupText(null)]).toEqual(['1', '"1"', 'null']);
});
