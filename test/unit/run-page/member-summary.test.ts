import { expect, it } from 'vitest';
import { summarizeMembers } from '../../../src-renderer/views/run/samples/sample-table.ts';

const vote = (text: string, isWrong: boolean) => ({ text, detail: '60 %', isWrong });

it('many members are counted by the class that they choose, the most frequent first', () => {
  const classes = { names: ['cat', 'dog'], labels: [1], chosen: Int32Array.of(1) };
  const members = [vote('cat', true), vote('dog', false), vote('dog', false)];
  expect(summarizeMembers({ classes, quantitiesAt: () => [] }, 0, members)).toEqual([
    { text: 'dog', detail: '2 of 3', isWrong: false },
    { text: 'cat', detail: '1 of 3', isWrong: true },
  ]);
});

it('of many values the range is shown, and how many are not finite', () => {
  const members = [0.25, NaN, 0.125, 1].map((value, rank) => ({ rank, value }));
  const quantitiesAt = () => [{ name: 'y', ensemble: 0.5, members, isProbability: false }];
  expect(summarizeMembers({ classes: null, quantitiesAt }, 0, [])).toEqual([
    { text: '0.1250 to 1', detail: '3 members', isWrong: false },
    { text: 'NaN', detail: '1 of 4', isWrong: true },
  ]);
});
