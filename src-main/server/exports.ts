import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { errorCode } from '../../core/node/file-error.ts';

/** Sends an export to be saved. @returns false where there is none of that name */
export async function sendExport(response: ServerResponse, folder: string, urlPath: string): Promise<boolean> {
  const name = basename(urlPath);
  // Names are run ids: what else a URL may hold is not looked for.
  if (!/^[\w-]+\.zip$/.test(name)) return false;
  const path = join(folder, name);
  const size = await stat(path).then(
    ({ size }) => size,
    (error: unknown) => {
      if (errorCode(error) === 'ENOENT') return null;
      throw error;
    },
  );
  if (size === null) return false;
  response.writeHead(200, {
    'Content-Type': 'application/zip',
    'Content-Length': size,
    'Content-Disposition': `attachment; filename="${name}"`,
  });
  await pipeline(createReadStream(path), response).catch((error: unknown) => {
    // The browser called the download off.
    if (errorCode(error) !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  });
  return true;
}
