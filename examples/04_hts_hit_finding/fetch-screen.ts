import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { checkScreen, type Screen } from './screens.ts';

/**
 * Downloads a published screen to `<folder>/molecules`, and checks its columns, its molecules and its hits.
 * @returns the path of the file, which is there whole or not at all
 * @throws Error that says what to do by hand if the server cannot be reached, or if it gives another file
 */
export async function downloadScreen(screen: Screen, folder: string): Promise<string> {
  const { name, file, url } = screen;
  const path = join(folder, 'molecules', file);
  const part = `${path}.part${extname(file)}`;
  await mkdir(join(folder, 'molecules'), { recursive: true });
  try {
    await receive(url, part);
    await checkScreen(part, screen);
    await rename(part, path);
    return path;
  } catch (error) {
    await rm(part, { force: true });
    const reason = `${messageOf(error)}${error instanceof Error && error.cause ? ` (${messageOf(error.cause)})` : ''}`;
    throw new Error(
      `The screen ${name} could not be downloaded: ${reason}\nGet ${url} in another way, and put it to ${path}.`,
      { cause: error },
    );
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function receive(url: string, path: string): Promise<void> {
  // The server of the Dataverse refuses requests without the name of a program.
  const response = await fetch(url, { headers: { 'user-agent': 'tutti-ensembles' } });
  if (!response.ok || response.body === null) throw new Error(`${url} answered with status ${response.status}.`);
  await pipeline(Readable.fromWeb(response.body), createWriteStream(path));
}
