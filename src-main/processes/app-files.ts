import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const archive = `${sep}app.asar${sep}`;

/**
 * A file of the app for another process than Electron's own. The packaged app is one archive that only Electron can read; what others
 * read lies beside it (`asarUnpack` in `electron-builder.yml`).
 */
export function unpacked(path: string): string {
  return path.replace(archive, `${sep}app.asar.unpacked${sep}`);
}

/** A file by its place in the repository; from here as from the build in `out/main`, that is two folders up. */
export function appFile(path: string): string {
  return unpacked(fileURLToPath(new URL(`../../${path}`, import.meta.url)));
}
