import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Entry, fromBufferPromise } from 'yauzl';
import { isOfSystem } from '../../../core/preprocessing/data-formats.ts';
import { messageOf } from '../../../core/text/errors.ts';

/** A small file may unpack to far more than fits in memory. */
const mostBytes = 2 ** 31;

/** Whether the bytes of a file are a table's only once they are unpacked: `d.csv.gz`, or a ZIP. */
export const isPacked = (file: string): boolean => /\.(?:gz|zip)$/i.test(file);

/**
 * A table's bytes and the name that gives their format: of a file `d.csv.gz`, or the only file of a ZIP. Others stay as
 * they are.
 * @throws Error that names the file where it is damaged, is larger than `most` bytes, or holds several files
 */
export async function unpackTable(
  bytes: Buffer,
  file: string,
  most = mostBytes,
): Promise<{ bytes: Buffer; file: string }> {
  if (/\.zip$/i.test(file)) return unzipOnly(bytes, file, most);
  if (!isPacked(file)) return { bytes, file };
  const unpacked = await promisify(gunzip)(bytes, { maxOutputLength: most }).catch((error: unknown) => {
    throw new Error(`${file} cannot be unpacked: ${messageOf(error)}. Unpack it yourself, or pack it again.`, {
      cause: error,
    });
  });
  return { bytes: unpacked, file: file.replace(/\.gz$/i, '') };
}

async function unzipOnly(bytes: Buffer, file: string, most: number): Promise<{ bytes: Buffer; file: string }> {
  const zip = await fromBufferPromise(bytes).catch((error: unknown) => {
    throw new Error(`${file} is no ZIP, or not whole: ${messageOf(error)}. Copy or download it again.`, {
      cause: error,
    });
  });
  const entries: Entry[] = [];
  for await (const entry of zip.eachEntry()) {
    if (!entry.fileName.endsWith('/') && !entry.fileName.split('/').some(isOfSystem)) entries.push(entry);
  }
  const [only, ...others] = entries;
  if (only === undefined || others.length > 0) {
    const names = entries.slice(0, 5).map(({ fileName }) => fileName);
    const found =
      only === undefined
        ? 'no file'
        : `${entries.length} files (${names.join(', ')}${entries.length > 5 ? ', ...' : ''})`;
    throw new Error(`${file} holds ${found}: a table is the only file of its ZIP. Unpack it, and name the table.`);
  }
  if (only.uncompressedSize > most) {
    throw new Error(`${file}: ${only.fileName} has ${only.uncompressedSize} bytes, and at most ${most} are read.`);
  }
  return { bytes: await buffer(await zip.openReadStreamPromise(only)), file: `${file}/${only.fileName}` };
}
