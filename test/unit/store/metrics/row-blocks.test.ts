import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type RowBlock, RowBlocks } from '../../../../src-main/store/metrics/row-blocks.ts';

const quarterMegabyte = 2 ** 18;

it('merges blocks up to 256 KiB, with all their steps in any order', () => {
  const blocks = new RowBlocks();
  blocks.add({ from: 0, to: 100, firstStep: 5, lastStep: 9 });
  blocks.add({ from: 100, to: quarterMegabyte, firstStep: 2, lastStep: 3 });
  expect(blocks.all).toEqual([{ from: 0, to: quarterMegabyte, firstStep: 2, lastStep: 9 }]);
  const next = { from: quarterMegabyte, to: quarterMegabyte + 1, firstStep: 7, lastStep: 7 };
  blocks.add(next);
  expect(blocks.all).toEqual([{ from: 0, to: quarterMegabyte, firstStep: 2, lastStep: 9 }, next]);
  blocks.clear();
  expect(blocks.all).toEqual([]);
});

it('copies its input', () => {
  const block = { from: 0, to: 1, firstStep: 0, lastStep: 0 };
  const blocks = new RowBlocks([block]);
  blocks.add({ from: 1, to: 2, firstStep: 1, lastStep: 1 });
  expect(block.to).toBe(1);
});

it('finds the blocks that may hold a step of a range, including both ends', () => {
  const block = fc.record({
    length: fc.integer({ min: 1, max: 2 ** 19 }),
    steps: fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 4 }),
  });
  const range = fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 30 }));
  fc.assert(
    fc.property(fc.array(block, { maxLength: 30 }), range, (drawn, [fromStep, toStep]) => {
      const blocks = new RowBlocks();
      const written: (RowBlock & { steps: number[] })[] = [];
      let from = 0;
      for (const { length, steps } of drawn) {
        const added = { from, to: from + length, firstStep: Math.min(...steps), lastStep: Math.max(...steps) };
        blocks.add(added);
        written.push({ ...added, steps });
        from += length;
      }
      const found = blocks.between(fromStep, toStep);
      const wanted = written.filter(({ steps }) => steps.some((step) => step >= fromStep && step <= toStep));
      for (const { from, to } of wanted) {
        expect(found.some((block) => block.from <= from && block.to >= to)).toBe(true);
      }
      for (const { firstStep, lastStep } of found) expect(firstStep <= toStep && lastStep >= fromStep).toBe(true);
      for (const [index, { from }] of blocks.all.entries()) {
        expect(from).toBe(index === 0 ? 0 : blocks.all[index - 1].to);
      }
    }),
    { seed: 1, numRuns: 200 },
  );
});
