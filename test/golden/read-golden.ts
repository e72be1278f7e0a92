import { readFileSync } from 'node:fs';

/** A recording in this folder, for example `one-cycle/one-cycle.json`. */
export const goldenFile = (path: string): URL => new URL(path, import.meta.url);

/** A recording in JSON. Its type is what the script beside it writes. */
export const readGolden = (path: string): unknown => JSON.parse(readFileSync(goldenFile(path), 'utf8'));
