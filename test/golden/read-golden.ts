import { readFileSync } from 'node:fs';

/** A recording in this folder, for example `one-cycle/one-cycle.json`. */
export const goldenFile = (path: string): URL => new URL(path, import.meta.url);

/** A recording in JSON. `T` describes what the script beside it writes. */
export function readGolden<T>(path: string): T {
  return JSON.parse(readFileSync(goldenFile(path), 'utf8')) as T;
}
