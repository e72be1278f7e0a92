import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { writeFileAtomic } from '../../core/node/atomic-file.ts';
import { errorCode, explainFileError } from '../../core/node/file-error.ts';
import { permissionsSchema } from '../../core/protocol/run/permissions.ts';
import { homePaths } from '../store/home.ts';

const trustFileSchema = z.strictObject({
  /** Trusted folders, without symbolic links, each with all folders below it. */
  folders: z.array(
    z.strictObject({
      folder: z.string(),
      /** User id of the owner when it was trusted; 0 where the system has none. */
      owner: z.int(),
      since: z.iso.datetime(),
    }),
  ),
  /** What projects may do beyond what every project may, by the project's folder. */
  permissions: z.record(z.string(), permissionsSchema),
});
/** `trusted.json` in Tutti's home. */
export type TrustFile = z.output<typeof trustFileSchema>;

/** @throws Error if the file is damaged: guessing would either run code or lose the user's decisions */
export function readTrustFile(): TrustFile {
  const path = homePaths().trust;
  try {
    return trustFileSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { folders: [], permissions: {} };
    if (errorCode(error) !== null) throw explainFileError(error, path, 'read');
    throw new Error(`${path} is damaged: it must list the trusted folders (docs/formats.md). Correct or remove it.`, {
      cause: error,
    });
  }
}

let lastChange: Promise<void> = Promise.resolve();

/** Replaces the file by what `change` makes of it. Changes of this process come one after the other. */
export function changeTrustFile(change: (file: TrustFile) => TrustFile): Promise<void> {
  const changing = lastChange.then(() => writeTrustFile(change(readTrustFile())));
  // The caller gets the error of this change; the next one must run anyway.
  lastChange = changing.catch(() => undefined);
  return changing;
}

async function writeTrustFile(file: TrustFile): Promise<void> {
  const path = homePaths().trust;
  await mkdir(dirname(path), { recursive: true });
  await writeFileAtomic(path, `${JSON.stringify(file, null, 2)}\n`);
}
