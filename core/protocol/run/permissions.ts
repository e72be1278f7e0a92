import { z } from 'zod';

/**
 * What a project asks for beyond what every project gets (`permissions` of `defineProject`). The user allows it once
 * for the project's folder; a project that asks for more later is asked about again.
 */
export const permissionsSchema = z.strictObject({
  /** Absolute paths of folders or files that it reads. */
  read: z.array(z.string().min(1)).default([]),
  /** Absolute paths of folders that it reads and writes. */
  write: z.array(z.string().min(1)).default([]),
  /** Whether it may open connections, also to download a data set. */
  network: z.boolean().default(false),
  /** Names of environment variables that it reads, such as an access token. */
  environment: z.array(z.string().regex(/^\w+$/)).default([]),
  /** Whether it may start other programs. They run without these limits. */
  processes: z.boolean().default(false),
});
export type Permissions = z.output<typeof permissionsSchema>;
export type PermissionsInput = z.input<typeof permissionsSchema>;

export const noPermissions: Permissions = permissionsSchema.parse({});

/** The part of `asked` that is not in `allowed`; null if all of it is allowed. */
export function missingPermissions(asked: Permissions, allowed: Permissions): Permissions | null {
  const missing = {
    read: asked.read.filter((path) => !allowed.read.includes(path) && !allowed.write.includes(path)),
    write: asked.write.filter((path) => !allowed.write.includes(path)),
    network: asked.network && !allowed.network,
    environment: asked.environment.filter((name) => !allowed.environment.includes(name)),
    processes: asked.processes && !allowed.processes,
  };
  return describePermissions(missing).length === 0 ? null : missing;
}

/** One phrase for each permission: `reads /data`. */
export function describePermissions({ read, write, network, environment, processes }: Permissions): string[] {
  return [
    ...read.map((path) => `reads ${path}`),
    ...write.map((path) => `reads and writes ${path}`),
    ...(network ? ['uses the network'] : []),
    ...environment.map((name) => `reads the environment variable ${name}`),
    ...(processes ? ['starts other programs, which have no limits'] : []),
  ];
}
