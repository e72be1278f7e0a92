import { join } from 'node:path';
import { expect, it } from 'vitest';
import { completeBlocks, root } from './code-blocks.ts';
import { typeErrors } from './type-errors.ts';

const blocks = completeBlocks().map((block) => ({ ...block, file: join(root, `${block.page}-${block.line}.ts`) }));

it('code of the pages that is a whole file has the right types', { timeout: 300_000 }, () => {
  expect(blocks.length).toBeGreaterThan(10);
  // As files beside their pages.
  const errors = typeErrors(new Map(blocks.map(({ file, code }) => [file, code])));
  const placed = errors.map(({ file, line, message }) => {
    const block = blocks.find((own) => own.file === file);
    return `${block?.page}:${(block?.line ?? 0) + line}: ${message}`;
  });
  expect(placed).toEqual([]);
});
