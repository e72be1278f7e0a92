import { readFileSync } from 'node:fs';
import { z } from 'zod';

const packageSchema = z.looseObject({
  /** Its real name where it is installed under another one (`npm:<name>@<version>`). */
  name: z.string().optional(),
  version: z.string().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  license: z.string().optional(),
  dev: z.boolean().optional(),
  link: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
  devDependencies: z.record(z.string(), z.string()).optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
});

/**
 * `package-lock.json` (https://docs.npmjs.com/cli/configuring-npm/package-lock-json): packages by their folder, '' for
 * Tutti itself.
 */
const lockfileSchema = z.looseObject({
  lockfileVersion: z.literal(3),
  packages: z.record(z.string(), packageSchema),
});
export type Lockfile = z.output<typeof lockfileSchema>;

/** A package that `npm ci` installs. */
export interface LockedPackage extends z.output<typeof packageSchema> {
  name: string;
  /** The name under which it is installed. */
  alias: string;
  version: string;
  /** Folder, such as `node_modules/a/node_modules/b`. */
  folder: string;
}

export function readLockfile(root: URL): Lockfile {
  return lockfileSchema.parse(JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8')));
}

/** All packages except Tutti itself. */
export function packagesOf({ packages }: Lockfile): LockedPackage[] {
  return Object.entries(packages)
    .filter(([folder]) => folder !== '')
    .map(([folder, locked]) => {
      const alias = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return { ...locked, folder, alias, name: locked.name ?? alias, version: locked.version ?? '' };
    });
}
