import { readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
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

/** The file of the built page at a URL's path, `/` being its `index.html`; null where there is none. */
export async function readStaticFile(folder: string, urlPath: string): Promise<StaticFile | null> {
  const path = join(folder, urlPath === '/' ? 'index.html' : urlPath);
  const type = types[extname(path)];
  if (type === undefined || !path.startsWith(folder + sep)) return null;
  try {
    return { type, content: await readFile(path) };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
