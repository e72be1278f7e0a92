import { cp, mkdir, readFile, symlink } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import packaging from '../../../electron-builder.config.ts';

const root = join(import.meta.dirname, '../../..');

/**
 * Lays out the app in a folder as electron-builder packs it, except that the archive is a plain folder. It leaves out development
 * dependencies, so that the app cannot depend on them.
 * @returns the main process
 */
export async function layOutPackage(folder: string): Promise<string> {
  const [archive, beside] = [join(folder, 'app.asar'), join(folder, 'app.asar.unpacked')];
  const isUnpacked = (pattern: string): boolean => packaging.asarUnpack.includes(pattern);
  for (const pattern of ['package.json', ...packaging.files]) {
    const path = pattern.replace(/\/\*\*$/, '');
    await cp(join(root, path), join(isUnpacked(pattern) ? beside : archive, path), { recursive: true });
  }
  await cp(join(beside, 'package.json'), join(archive, 'package.json'));
  if (!isUnpacked('node_modules/**')) throw new Error('Workers could not read node_modules inside the archive.');
  for (const path of await productionPackages()) await cp(join(root, path), join(beside, path), { recursive: true });
  // Electron also searches beside the archive.
  await mkdir(archive, { recursive: true });
  await symlink(join(beside, 'node_modules'), join(archive, 'node_modules'));
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
