import { readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** NFS keeps what it knows of a folder for up to a minute; reading the folder above asks the server again. */
const limitMs = 60_000;
const lookEveryMs = 250;

/** Resolves once this node sees the run's folder, which another node has created. @throws Error with the remedy */
export async function seesRunFolder(folder: string, node: string): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (!(await readdir(dirname(folder)).catch((): string[] => [])).includes(basename(folder))) {
    if (performance.now() > endMs) {
      throw new Error(
        `The node ${node} does not see the run's folder ${folder}. Put it on a file system that all nodes ` +
          'share (TUTTI_HOME or --out).',
      );
    }
    await wait(lookEveryMs);
  }
}
