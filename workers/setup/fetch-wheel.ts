import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { fetchFile } from '../data/sources/download.ts';
import type { Note } from './folder.ts';
import type { Wheel } from './wheels.ts';

/** Where a wheel goes. */
interface Target {
  /** Of the download, until everything is set up. */
  archives: string;
  folder: string;
  /** The path below `folder` for a file of the wheel; null: it is not needed. */
  choose: (name: string) => string | null;
}

/**
 * Downloads a wheel from the Python Package Index, without Python, and unpacks what is needed of it.
 * @throws Error if the index does not answer or does not list the wheel, its SHA-256 is another, or nothing is chosen
 */
export async function addWheel(wheel: Wheel, { archives, folder, choose }: Target, note: Note): Promise<void> {
  const archive = await downloadWheel(wheel, archives, note);
  const count = await unpackZip(archive, folder, choose);
  if (count === 0) throw new Error(`${wheel.name} holds no library: its layout is not the expected one.`);
}

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

/** The index's address. As with pip, PIP_INDEX_URL names another index. */
const indexUrl = process.env.PIP_INDEX_URL ?? 'https://pypi.org/simple';

const silenceMs = 15_000;

/**
 * Downloads a wheel into `folder` and returns its path. Resumes an earlier attempt.
 * @throws Error if the index does not answer or does not list the file, or the SHA-256 does not match
 */
async function downloadWheel(wheel: Wheel, folder: string, note: Note): Promise<string> {
  const url = await findAddress(wheel);
  let told = -1;
  return await fetchFile(
    { name: wheel.name, urls: [url], sha256: wheel.sha256, bytes: wheel.bytes, folder },
    {
      silenceMs,
      onProgress({ receivedBytes, totalBytes }) {
        const tenths = Math.floor((10 * receivedBytes) / totalBytes);
        if (tenths === told) return;
        told = tenths;
        note(`${wheel.name}: ${tenths * 10} % of ${Math.round(totalBytes / 1e6)} MB`);
      },
    },
  );
}

/** The file's address on its project's page (PEP 503). */
async function findAddress({ project, name }: Wheel): Promise<string> {
  const page = `${indexUrl.replace(/\/$/, '')}/${project}/`;
  const response = await fetch(page, { signal: AbortSignal.timeout(silenceMs) }).catch((cause: unknown) => {
    throw new Error(`${page} does not answer. Is this machine offline? PIP_INDEX_URL names another index.`, { cause });
  });
  if (!response.ok) throw new Error(`${page} answers with HTTP ${response.status}. PIP_INDEX_URL names another index.`);
  const addresses = [...(await response.text()).matchAll(/href="([^"]+)"/g)].map(
    ([, href]) => new URL(href, response.url || page),
  );
  const address = addresses.find(({ pathname }) => pathname.endsWith(`/${name}`));
  if (address === undefined) throw new Error(`${page} does not list ${name}. PIP_INDEX_URL names another index.`);
  address.hash = '';
  return address.href;
}
