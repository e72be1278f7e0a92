import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { extname, join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { errorCode } from '../../core/node/file-error.ts';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

export interface StaticFile {
  type: string;
  content: Buffer;
}

/** The file of the built page at a URL's path (`/` is its `index.html`); null if there is none. */
export async function readStaticFile(folder: string, urlPath: string): Promise<StaticFile | null> {
  const path = join(folder, urlPath === '/' ? 'index.html' : urlPath);
  const type = types[extname(path)];
  if (type === undefined || !path.startsWith(folder + sep)) return null;
  try {
    return { type, content: await readFile(path) };
  } catch (error) {
    if (namesNoFile(error)) return null;
    throw error;
  }
}

/** Sends an export as a download. @returns false if there is none of that name */
export async function sendExport(response: ServerResponse, folder: string, name: string): Promise<boolean> {
  const path = join(folder, name);
  const size = await sizeOf(path);
  if (size === null) return false;
  response.writeHead(200, {
    // Always saved, never shown: a report's scripts must not run with the rights of the dashboard.
    'Content-Type': name.endsWith('.zip') ? 'application/zip' : 'application/octet-stream',
    'Content-Length': size,
    'Content-Disposition': `attachment; filename="${name}"`,
  });
  await pipeline(createReadStream(path), response).catch((error: unknown) => {
    // The browser cancelled the download.
    if (errorCode(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  });
  return true;
}

/** Bytes of a file; null if it does not exist. */
async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (namesNoFile(error)) return null;
    throw error;
  }
}

/**
 * Whether a path of a request leads to no file: there is none, it is a folder, it leads through a file, or no file can
 * have the name.
 */
function namesNoFile(error: unknown): boolean {
  const code = errorCode(error);
  return (
    code !== null && ['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG', 'ELOOP', 'ERR_INVALID_ARG_VALUE'].includes(code)
  );
}
