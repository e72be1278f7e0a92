import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Entry, fromBufferPromise } from 'yauzl';
import { isOfSystem } from '../../../core/preprocessing/data-formats.ts';
import { messageOf } from '../../../core/text/errors.ts';

/** A small file may unpack to far more than fits in memory. */
const mostBytes = 2 ** 31;
const zipMark = Buffer.from('PK\u0003\u0004');
/** Of a compound file of OLE. */
export const oleMark = Buffer.from('d0cf11e0a1b11ae1', 'hex');

/** Whether the bytes of a file are a table's only once they are unpacked: `d.csv.gz`, or a ZIP. */
export const isPacked = (file: string): boolean => /\.(?:gz|zip)$/i.test(file);

/**
 * Whether bytes begin as a workbook, whatever the file's ending: as a ZIP archive (`.xlsx`), or as a compound file of
 * OLE (`.xls`, and workbooks with a password).
 */
export const isWorkbook = (bytes: Buffer): boolean =>
  [zipMark, oleMark].some((mark) => bytes.subarray(0, mark.length).equals(mark));

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
  const zip = await openZip(bytes, file, most);
  const names = zip.names.filter((name) => !name.endsWith('/') && !name.split('/').some(isOfSystem));
  const [only, ...others] = names;
  if (only === undefined || others.length > 0) {
    const shown = `${names.slice(0, 5).join(', ')}${names.length > 5 ? ', ...' : ''}`;
    const found = only === undefined ? 'no file' : `${names.length} files (${shown})`;
    throw new Error(`${file} holds ${found}: a table is the only file of its ZIP. Unpack it, and name the table.`);
  }
  return { bytes: await zip.read(only), file: `${file}/${only}` };
}

/** The files of a ZIP archive. */
export interface OpenZip {
  names: readonly string[];
  /** @throws Error for a name that it does not have, and where all that was read is more than it may unpack to */
  read(name: string): Promise<Buffer>;
}

/**
 * Opens a ZIP archive.
 * @param most bytes that it may unpack to, over all calls of `read`
 * @throws Error that names the file where it is damaged
 */
export async function openZip(bytes: Buffer, file: string, most = mostBytes): Promise<OpenZip> {
  const zip = await fromBufferPromise(bytes).catch((error: unknown) => {
    throw new Error(`${file} is no ZIP, or not whole: ${messageOf(error)}. Copy or download it again.`, {
      cause: error,
    });
  });
  const entries: Entry[] = [];
  for await (const entry of zip.eachEntry()) entries.push(entry);
  let left = most;
  async function read(name: string): Promise<Buffer> {
    const entry = entries.find(({ fileName }) => fileName === name);
    if (entry === undefined) throw new Error(`${file} has no ${name}. Copy or download it again.`);
    if (entry.uncompressedSize > left) {
      const more = left < most ? ' more' : '';
      throw new Error(`${file}: ${name} has ${entry.uncompressedSize} bytes, and at most ${left}${more} are read.`);
    }
    left -= entry.uncompressedSize;
    return buffer(await zip.openReadStreamPromise(entry));
  }
  return { names: entries.map(({ fileName }) => fileName), read };
}
