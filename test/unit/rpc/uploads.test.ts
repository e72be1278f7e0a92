import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { Uploads } from '../../../src-main/rpc/runs/uploads.ts';
import { temporaryFolder } from '../data/temp-folder.ts';

async function openUploads() {
  const place = await temporaryFolder();
  return { place, uploads: new Uploads(() => Promise.resolve(place)) };
}

it('a file is the parts in their order, also where the page does not wait for each', async () => {
  const { uploads } = await openUploads();
  const id = await uploads.open({ ending: 'csv', bytes: 6 });
  await Promise.all(['ab', 'cd', 'ef'].map((part) => uploads.append(id, Buffer.from(part))));
  const { folder, input } = await uploads.take(id);
  expect(input).toBe(join(folder, 'input', 'samples.csv'));
  expect(await readFile(input, 'utf8')).toBe('abcdef');
  await expect(uploads.take(id)).rejects.toThrow('Send it again.');
});

it('an image is the only one of a folder', async () => {
  const { uploads } = await openUploads();
  const id = await uploads.open({ ending: 'png', bytes: 1 });
  await uploads.append(id, Uint8Array.of(7));
  const { input } = await uploads.take(id);
  expect(basename(input)).toBe('images');
  expect(await readdir(input)).toEqual(['image.png']);
});

it('a folder is its files one after the other, wherever the parts end, also empty ones', async () => {
  const { uploads } = await openUploads();
  const files = [
    { path: 'none.txt', bytes: 0 },
    { path: 'oak/1.png', bytes: 3 },
    { path: 'oak/young/2.png', bytes: 2 },
    { path: 'last.txt', bytes: 0 },
  ];
  const id = await uploads.open({ name: 'leaves', bytes: 5, files });
  await Promise.all(['a', 'bcd', 'e'].map((part) => uploads.append(id, Buffer.from(part))));
  const { folder, input } = await uploads.take(id);
  expect(input).toBe(join(folder, 'input', 'leaves'));
  const contents = files.map(({ path }) => readFile(join(input, path), 'utf8'));
  expect(await Promise.all(contents)).toEqual(['', 'abc', 'de', '']);
  await expect(uploads.open({ name: 'leaves', bytes: 6, files })).rejects.toThrow(
    'The files of leaves have 5 bytes, but 6 are announced.',
  );
});

it('parts that are missing or too many are refused, and so is a third file at a time', async () => {
  const { uploads } = await openUploads();
  const id = await uploads.open({ ending: 'csv', bytes: 3 });
  await uploads.append(id, Uint8Array.of(1, 2));
  await expect(uploads.take(id)).rejects.toThrow('Only 2 of 3 bytes were sent.');
  await expect(uploads.append(id, Uint8Array.of(1, 2))).rejects.toThrow('More than the announced 3 bytes were sent.');
  await expect(uploads.append('another', Uint8Array.of(1))).rejects.toThrow('This file is not being sent');
  await uploads.open({ ending: 'csv', bytes: 3 });
  await expect(uploads.open({ ending: 'csv', bytes: 3 })).rejects.toThrow('This page sends 2 files already.');
});

it('a file that the disk cannot hold is refused before a byte of it is sent', async () => {
  const { uploads } = await openUploads();
  await expect(uploads.open({ ending: 'csv', bytes: Number.MAX_SAFE_INTEGER })).rejects.toThrow('does not fit');
});

it('nothing is left of a dropped file, or when the page has gone', async () => {
  const { place, uploads } = await openUploads();
  const dropped = await uploads.open({ ending: 'csv', bytes: 3 });
  await uploads.append(dropped, Uint8Array.of(1));
  await uploads.drop(dropped);
  expect(await readdir(place)).toEqual([]);
  await uploads.append(await uploads.open({ ending: 'csv', bytes: 3 }), Uint8Array.of(1));
  await uploads.close();
  expect(await readdir(place)).toEqual([]);
});
