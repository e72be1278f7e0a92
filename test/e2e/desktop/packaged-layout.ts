import { cp, readFile, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createPackageWithOptions } from '@electron/asar';
import packaging from '../../../electron-builder.config.ts';

const root = join(import.meta.dirname, '../../..');

/**
 * Lays out the app in a folder as electron-builder packs it: an archive, and the files beside it that other processes
 * read. It leaves out development dependencies, so that the app cannot depend on them.
 * @returns the main process
 */
export async function layOutPackage(folder: string): Promise<string> {
  const [source, archive] = [join(folder, 'source'), join(folder, 'app.asar')];
  const packed = packaging.files
    .filter((pattern) => !/^!|^node_modules/.test(pattern))
    .map((pattern) => pattern.replace(/\/\*\*$/, ''));
  for (const path of ['package.json', ...packed, ...(await productionPackages())])
    // npm's links to the programs of a package's own dependencies, which electron-builder leaves out too.
    await cp(join(root, path), join(source, path), { recursive: true, filter: (from) => basename(from) !== '.bin' });
  const folders = packaging.asarUnpack.filter((pattern) => pattern.endsWith('/**'));
  const unpackDir = `{${folders.map((pattern) => pattern.replace(/\/\*\*$/, '')).join(',')}}`;
  await createPackageWithOptions(source, archive, { unpack: join(source, 'package.json'), unpackDir });
  await rm(source, { recursive: true });
  return join(archive, packaging.extraMetadata.main);
}

/** Folders of the installed packages that are not development dependencies. */
async function productionPackages(): Promise<string[]> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
  };
  return Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true && existsSync(join(root, path)))
    .map(([path]) => path);
}
