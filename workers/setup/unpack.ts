import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Entry, openPromise, type ZipFile } from 'yauzl';

/**
 * Unpacks files of a ZIP archive into `folder`: those for which `choose` returns a path, to that path.
 * @returns the number of files
 */
export async function unpackZip(
  archive: string,
  folder: string,
  choose: (name: string) => string | null,
): Promise<number> {
  const zip = await openPromise(archive);
  let count = 0;
  try {
    for await (const entry of zip.eachEntry()) {
      const path = entry.fileName.endsWith('/') ? null : choose(entry.fileName);
      if (path === null) continue;
      await extract(zip, entry, join(folder, normalize(path)));
      count += 1;
    }
  } finally {
    zip.close();
  }
  return count;
}

async function extract(zip: ZipFile, entry: Entry, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(path));
}
