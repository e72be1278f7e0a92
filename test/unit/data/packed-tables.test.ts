import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import { profileTable } from '../../../workers/data/tables/profile-table.ts';
import { readTable } from '../../../workers/data/tables/read-table.ts';
import { tableBlocks } from '../../../workers/data/tables/table-blocks.ts';
import { unpackTable } from '../../../workers/data/tables/unpack.ts';
import { temporaryFolder } from './temp-folder.ts';

const text = 'x;y\n1,5;a\n2,5;b\n3,5;a\n';

async function zipOf(files: Record<string, string>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), name);
  zip.end();
  return buffer(zip.outputStream);
}

async function fileOf(name: string, bytes: Buffer): Promise<string> {
  const file = join(await temporaryFolder(), name);
  await writeFile(file, bytes);
  return file;
}

describe.each<[kind: string, make: () => Promise<string>]>([
  ['a gzipped file', () => fileOf('d.csv.gz', gzipSync(text))],
  ['a file of gzipped text in capitals', () => fileOf('D.CSV.GZ', gzipSync(text))],
  ['the only file of a ZIP', async () => fileOf('d.zip', await zipOf({ 'data/d.csv': text }))],
  [
    'a ZIP that macOS and Windows made',
    async () =>
      fileOf('d.zip', await zipOf({ 'd.csv': text, '__MACOSX/._d.csv': 'x', 'Thumbs.db': 'x', '.DS_Store': 'x' })),
  ],
])('%s', (_, make) => {
  it('is read, inspected and predicted as the table in it', async () => {
    const file = await make();
    const table = await readTable(file);
    expect(table.columns.map(({ name, type, values }) => [name, type, [...values]])).toEqual([
      ['x', 'number', [1.5, 2.5, 3.5]],
      ['y', 'category', ['a', 'b', 'a']],
    ]);
    expect((await profileTable(file)).reading).toEqual(table.reading);
    const blocks: unknown[] = [];
    for await (const block of tableBlocks(file, { types: { x: 'number' }, reading: table.reading ?? null })) {
      blocks.push([...block.columns[0].values]);
    }
    expect(blocks).toEqual([[1.5, 2.5, 3.5]]);
  });
});

describe('refuses, and names', () => {
  it.each<[what: string, name: string, bytes: () => Promise<Buffer>, message: string]>([
    ['several files', 'd.zip', () => zipOf({ 'a.csv': text, 'b.csv': text }), 'holds 2 files (a.csv, b.csv)'],
    ['no file', 'd.zip', () => zipOf({}), 'holds no file'],
    [
      'a ZIP that was cut',
      'd.zip',
      async () => (await zipOf({ 'a.csv': text })).subarray(0, 60),
      'is no ZIP, or not whole',
    ],
    ['gzipped data that were cut', 'd.csv.gz', async () => gzipSync(text).subarray(0, 20), 'cannot be unpacked'],
    ['text that is not gzipped', 'd.csv.gz', async () => Buffer.from(text), 'cannot be unpacked'],
  ])('%s', async (_, name, bytes, message) => {
    await expect(readTable(await fileOf(name, await bytes()))).rejects.toThrow(message);
  });

  it('what unpacks to more than is read', async () => {
    await expect(unpackTable(gzipSync(Buffer.alloc(2000)), 'd.csv.gz', 1000)).rejects.toThrow('cannot be unpacked');
    const zip = await zipOf({ 'd.csv': 'x'.repeat(2000) });
    await expect(unpackTable(zip, 'd.zip', 1000)).rejects.toThrow('d.csv has 2000 bytes, and at most 1000 are read');
  });
});
