import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parseArrow } from '../../../workers/data/tables/arrow/arrow.ts';
import { decompressLz4 } from '../../../workers/data/tables/arrow/lz4.ts';
import type { Cell } from '../../../workers/data/tables/cells.ts';
import { goldenFile, readGolden } from '../../golden/read-golden.ts';

const golden = (name: string) => readFile(goldenFile(`tables/${name}`));
const never = () => false;

/** `read`, or the error. */
function outcomeOf(bytes: Buffer): string {
  try {
    parseArrow(bytes, 'x.arrow', never);
    return 'read';
  } catch (error) {
    return (error as Error).message;
  }
}

/** Dates as milliseconds, and whole numbers of any size, as numbers. */
const plain = (cell: Cell): Cell => {
  if (cell instanceof Date) return cell.getTime() + 0;
  return typeof cell === 'bigint' ? Number(cell) : cell;
};

describe('parseArrow', () => {
  it('reads all plain types as pyarrow wrote them, compressed by LZ4', async () => {
    const expected = readGolden('tables/types.json') as Record<string, Cell[]>;
    const { columns, length } = parseArrow(await golden('types.arrow'), 'types.arrow', never);
    expect(length).toBe(200);
    expect(columns.map(({ name }) => name)).toEqual(Object.keys(expected));
    for (const { name, cells } of columns) {
      const isTime = cells.some((cell) => cell instanceof Date);
      // Dates have whole milliseconds.
      const rounded = expected[name].map((value) =>
        isTime && typeof value === 'number' ? Math.trunc(value) + 0 : value,
      );
      expect([name, [...cells].map(plain)]).toEqual([name, rounded]);
    }
  });

  it('refuses what is no file of tables, with the reason', async () => {
    const whole = await golden('passengers.arrow');
    const read = (bytes: Buffer) => () => parseArrow(bytes, 'x.arrow', never);
    expect(read(whole.subarray(0, -1))).toThrow(
      'x.arrow cannot be read as Arrow: it does not begin and end with ARROW1',
    );
    expect(read(Buffer.concat([whole.subarray(0, 8), whole.subarray(-10)]))).toThrow('x.arrow cannot be read as Arrow');
    const cut = Buffer.concat([whole.subarray(0, 64), whole.subarray(1000)]);
    expect(read(cut)).toThrow('x.arrow cannot be read as Arrow');
  });

  it('never allocates more than a damaged file can hold', async () => {
    // The largest number in place of each 8 bytes in turn: sizes, counts and offsets.
    for (const name of ['passengers-lz4.arrow', 'passengers-zstd.arrow', 'types.arrow']) {
      const whole = await golden(name);
      for (let at = 8; at + 8 < whole.length - 6; at += 16) {
        const damaged = Buffer.from(whole);
        damaged.writeBigInt64LE(0x7fffffff_7fffffffn, at);
        expect(outcomeOf(damaged)).toMatch(/^(read$|x\.arrow cannot be read as Arrow: )/);
      }
    }
  });

  it('refuses a block of LZ4 that ends within a length, though it has given all bytes', () => {
    const block = (...bytes: number[]) => {
      const [start, size, end] = [
        Buffer.of(0x04, 0x22, 0x4d, 0x18, 0x40, 0x40, 0xc0),
        Buffer.alloc(4),
        Buffer.alloc(4),
      ];
      size.writeUInt32LE(bytes.length);
      return Buffer.concat([start, size, Buffer.from(bytes), end]);
    };
    const text = [...Buffer.from('abcd')];
    expect(decompressLz4(block(0x40, ...text), 4).toString()).toBe('abcd');
    // A match of the last byte: 15 bytes and 4, and as many more as the next byte says.
    expect(decompressLz4(block(0x4f, ...text, 1, 0, 2), 25).toString()).toBe(`abc${'d'.repeat(22)}`);
    expect(() => decompressLz4(block(0x4f, ...text, 1, 0), 4)).toThrow('damaged');
    expect(() => decompressLz4(block(0xf0, ...text), 4)).toThrow('damaged');
  });
});
