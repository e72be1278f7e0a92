import type { FileHandle } from 'node:fs/promises';
import { readFully } from '../../../core/node/read-lines.ts';

/** Small blocks are joined up to this size, so that one read gets all it needs and little more. */
const blockBytes = 2 ** 18;

/** Whole lines of a file, `[from, to)` in bytes, and the steps that occur in them. */
export interface RowBlock {
  from: number;
  to: number;
  firstStep: number;
  lastStep: number;
}

/** The steps in each block of `metrics.csv`: about 30 bytes for a quarter of a megabyte. Lines need not be in order. */
export class RowBlocks {
  readonly #blocks: RowBlock[];

  constructor(blocks: readonly RowBlock[] = []) {
    this.#blocks = blocks.map((block) => ({ ...block }));
  }

  get all(): readonly RowBlock[] {
    return this.#blocks;
  }

  add(block: RowBlock): void {
    const last = this.#blocks.at(-1);
    if (last === undefined || block.to - last.from > blockBytes) {
      this.#blocks.push({ ...block });
      return;
    }
    last.to = block.to;
    last.firstStep = Math.min(last.firstStep, block.firstStep);
    last.lastStep = Math.max(last.lastStep, block.lastStep);
  }

  /** The blocks with steps in a range, both ends included. */
  between(fromStep: number, toStep: number): RowBlock[] {
    return this.#blocks.filter(({ firstStep, lastStep }) => firstStep <= toStep && lastStep >= fromStep);
  }

  clear(): void {
    this.#blocks.splice(0);
  }
}

/** The lines of a block. @throws Error if the file no longer holds it */
export async function readLines(handle: FileHandle, { from, to }: Pick<RowBlock, 'from' | 'to'>): Promise<string[]> {
  const bytes = Buffer.allocUnsafe(to - from);
  const bytesRead = await readFully(handle, bytes, from);
  if (bytesRead < bytes.length)
    throw new Error(`It ends at byte ${from + bytesRead}, but was read up to ${to} before.`);
  return bytes.toString('utf8', 0, bytes.length - 1).split('\n');
}
