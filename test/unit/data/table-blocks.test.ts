import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tableBlocks } from '../../../workers/data/tables/table-blocks.ts';
import { readTable } from '../../../workers/data/tables/read-table.ts';
import { temporaryFolder } from '../store/fixtures.ts';

async function written(name: string, content: string): Promise<string> {
  const path = join(await temporaryFolder(), name);
  await writeFile(path, content);
  return path;
}

/** Values of all blocks, by column, and the number of blocks. */
async function valuesOf(...args: Parameters<typeof tableBlocks>) {
  const values: Record<string, unknown[]> = {};
  let blocks = 0;
  for await (const { columns } of tableBlocks(...args)) {
    blocks++;
    for (const { name, values: own } of columns) (values[name] ??= []).push(...own);
  }
  return { blocks, values };
}

const quoted = 'name,size\n"a\nb",1\nc,2\n"d ""e""\r\nf",\ng,4\n';

describe('a table in blocks', () => {
  it.each([1, 7, 12, 20, 1000])(
    'is that of a whole read, with quotes and line ends in them (%i bytes)',
    async (blockBytes) => {
      const file = await written('x.csv', quoted);
      const { values } = await valuesOf(file, { types: { name: 'text', size: 'number' }, blockBytes });
      expect(values).toEqual({ name: ['a\nb', 'c', 'd "e"\r\nf', 'g'], size: [1, 2, NaN, 4] });
    },
  );

  it('keeps the types of its first block, and takes only the wanted columns', async () => {
    const file = await written('x.csv', 'a;b\n1;x\n2;y\n3;z\n');
    const all = await valuesOf(file, { types: null, blockBytes: 8 });
    expect(all.blocks).toBeGreaterThan(1);
    expect(all.values).toEqual({ a: [1, 2, 3], b: ['x', 'y', 'z'] });
    expect((await valuesOf(file, { types: { b: 'category' }, blockBytes: 8 })).values).toEqual({ b: ['x', 'y', 'z'] });
    await expect(valuesOf(file, { types: { c: 'number' } })).rejects.toThrow('no column "c"');
  });

  it.each([1, 6, 1000])('numbers its rows, of which those without any value are left out (%i bytes)', async (size) => {
    const numbersOf = async (text: string) => {
      const numbers: number[] = [];
      const options = { types: null, blockBytes: size };
      for await (const { rowNumbers = [] } of tableBlocks(await written('x.csv', text), options)) {
        numbers.push(...rowNumbers);
      }
      return numbers;
    };
    // A blank line is no row, as for other readers of CSV; neither are delimiters in front of the names.
    expect(await numbersOf(';\na;b\n;\n1;2\n\n3;\n;\n;\n4;5\n;\n')).toEqual([1, 2, 5]);
    expect(await numbersOf('1;2\n;\n3;4\n')).toEqual([0, 2]);
  });

  it('names the line of a wrong cell in a later block', async () => {
    const file = await written('x.csv', 'a,b\n1,2\n3,4\n5,x\n');
    await expect(valuesOf(file, { types: { b: 'number' }, blockBytes: 4 })).rejects.toThrow(
      'line 4, column 2 (b): "x"',
    );
    await expect(
      valuesOf(await written('y.csv', 'a,b\n1,2\n3,4\n5\n'), { types: null, blockBytes: 4 }),
    ).rejects.toThrow('line 4: 1 fields, the first line has 2');
  });

  it('reads JSON lines, whose keys may be absent, and texts', async () => {
    const file = await written('x.jsonl', '{"a":1,"b":"u"}\n{"b":"v"}\n{"a":3}\n');
    const read = await valuesOf(file, { types: { a: 'number', b: 'category' }, blockBytes: 16 });
    expect(read.values).toEqual({ a: [1, NaN, 3], b: ['u', 'v', null] });
    const texts = await written('x.txt', 'one, two\r\nthree\n');
    expect((await valuesOf(texts, { types: null, blockBytes: 5 })).values).toEqual({ text: ['one, two', 'three'] });
    expect((await valuesOf(texts, { types: { review: 'text' } })).values).toEqual({ review: ['one, two', 'three'] });
    await expect(valuesOf(await written('empty.csv', 'a,b\n'), { types: null })).rejects.toThrow('no rows of data');
  });

  it('reads blocks of a Parquet file', async () => {
    const bytes = await readFile(new URL('../../golden/tables/passengers.parquet', import.meta.url));
    const file = join(await temporaryFolder(), 'passengers.parquet');
    await writeFile(file, bytes);
    const whole = await readTable(file);
    const types = Object.fromEntries(whole.columns.map(({ name, type }) => [name, type]));
    const { blocks, values } = await valuesOf(file, { types, blockRows: 3 });
    expect(blocks).toBe(Math.ceil(whole.length / 3));
    expect(values).toEqual(Object.fromEntries(whole.columns.map(({ name, values: own }) => [name, [...own]])));
  });
});
