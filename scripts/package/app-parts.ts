import { readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** The bound of the packaged app's size, in bytes. */
export const mostAppBytes = 420e6;

const modules = 'resources/app.asar.unpacked/node_modules';

/** Parts of the packaged app, each with the beginnings of its files' paths. The first that fits takes a file. */
const parts: readonly (readonly [string, ...string[]])[] = [
  ['Node', `${modules}/node-`],
  ['TensorFlow.js', `${modules}/@tensorflow/`],
  ['sharp', `${modules}/sharp/`, `${modules}/@img/`],
  ['RDKit', `${modules}/@rdkit/`],
  ['koffi', `${modules}/koffi/`, `${modules}/@koromix/`],
  ['other packages', modules],
  ['pages', 'resources/app.asar.unpacked/out/'],
  ["Tutti's own code, examples and templates", 'resources/app.asar'],
  ['Electron', ''],
];

/**
 * Bytes of each part of an unpacked app, without what the file system adds.
 * @param folder what holds the app's program and `resources`
 */
export async function measureApp(folder: string): Promise<Map<string, number>> {
  const bytes = new Map(parts.map(([name]) => [name, 0]));
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = partOf(relative(folder, path).replaceAll(sep, '/'));
    bytes.set(name, (bytes.get(name) ?? 0) + (await stat(path)).size);
  }
  return bytes;
}

function partOf(path: string): string {
  const found = parts.find(([, ...beginnings]) => beginnings.some((beginning) => path.startsWith(beginning)));
  return found?.[0] ?? 'Electron';
}

export function totalBytes(bytes: ReadonlyMap<string, number>): number {
  return [...bytes.values()].reduce((sum, size) => sum + size, 0);
}
