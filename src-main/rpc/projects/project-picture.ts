import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProjectPicture } from '../../../core/protocol/pages/project-views.ts';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';
import type { Hub } from '../../hub/hub.ts';
import { ForeignEntryError, openOwnFile } from '../../../core/node/own-files.ts';
import { trustOnCard } from './folders.ts';

/** A larger file is no picture for a card. */
const maximumBytes = 2 * 2 ** 20;
/** A PNG of few bytes may decode to an image that fills the memory. */
const maximumPixels = 16_000_000;
/** The runs whose figures are looked at, the newest first. */
const searchedRuns = 5;

/**
 * The picture of a project's card: the newest figure that a run of it drew, else a picture in its folder `outputs`;
 * null if there is none, and for a project that the user does not trust. Only regular files inside of these folders are
 * read, and nothing of the project runs. Where there is an SVG and a PNG of one name, the SVG is taken.
 */
export async function findPicture(hub: Hub, folder: string): Promise<ProjectPicture | null> {
  if (!trustOnCard(folder).isTrusted) return null;
  const runs = hub.runs({ projectFolder: folder, limit: searchedRuns });
  const places = [
    ...runs.map((run) => ({ folder: run.folder, inside: 'plots', of: run.name })),
    { folder, inside: 'outputs', of: null },
  ];
  for (const { folder: parent, inside, of } of places) {
    const picture = await firstPicture(parent, inside);
    if (picture !== null) return { ...picture, run: of };
  }
  return null;
}

async function firstPicture(parent: string, inside: string): Promise<Omit<ProjectPicture, 'run'> | null> {
  const names = await readdir(join(parent, inside)).catch((error: unknown) => {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw explainFileError(error, join(parent, inside), 'read');
  });
  const pictures = [
    ...names.filter((name) => name.endsWith('.svg')).sort(),
    ...names.filter((name) => name.endsWith('.png')).sort(),
  ];
  for (const name of pictures) {
    const bytes = await readBounded(parent, join(inside, name));
    const type = bytes === null ? null : typeOf(bytes);
    if (bytes !== null && type !== null) return { name, type, bytes };
  }
  return null;
}

/** The bytes of a file in a folder; null for one that is too large, or is a link or no file. */
async function readBounded(folder: string, path: string): Promise<Uint8Array | null> {
  try {
    const handle = await openOwnFile(folder, path);
    try {
      const { size } = await handle.stat();
      return size > maximumBytes ? null : await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    // It cannot be shown, and other pictures can. A file that vanished meanwhile is none either.
    if (error instanceof ForeignEntryError || errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

const pngSignature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** The type that the bytes themselves say; null for anything but a PNG of a reasonable size and an SVG. */
export function typeOf(bytes: Uint8Array): ProjectPicture['type'] | null {
  if (pngSignature.every((byte, index) => bytes[index] === byte)) {
    // The header IHDR comes first: length, name, width, height, big-endian.
    if (bytes.length < 24) return null;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const pixels = view.getUint32(16) * view.getUint32(20);
    return pixels > 0 && pixels <= maximumPixels ? 'image/png' : null;
  }
  const beginning = new TextDecoder().decode(bytes.subarray(0, 1024));
  return /<svg[\s>]/.test(beginning) ? 'image/svg+xml' : null;
}
