import { resolve } from 'node:path';
import { describePermissions } from '../../../core/protocol/run/permissions.ts';
import { trustFolder, withdrawTrust } from '../../trust/project-trust.ts';
import { readTrustFile } from '../../trust/trust-file.ts';
import { consentOf, ensureAllowed } from '../consent.ts';
import { exitCodes, orUsageError, UsageError } from '../errors.ts';
import { withHub } from '../open-hub.ts';
import { holdsProject } from '../../runs/configuration/project.ts';

export interface TrustOptions {
  remove?: boolean;
}

/**
 * `tutti trust [folder]`: lists trusted folders, trusts one and allows the project in it what it asks for, or removes
 * one.
 * @returns the exit code
 */
export async function trust(folder: string | undefined, { remove = false }: TrustOptions): Promise<number> {
  if (folder === undefined) {
    if (remove) throw new UsageError('--remove needs a folder: tutti trust --remove <folder>.');
    process.stdout.write(`${listTrusted().join('\n')}\n`);
  } else if (remove) {
    await withdrawTrust(resolve(folder));
    process.stdout.write(`${folder} is no longer trusted.\n`);
  } else {
    const real = await orUsageError(trustFolder(folder));
    process.stdout.write(`${real} and the folders in it are trusted.\n`);
    if (holdsProject(real)) await allow(real);
  }
  return exitCodes.finished;
}

function listTrusted(): string[] {
  const { folders, permissions } = readTrustFile();
  const allowed = Object.entries(permissions).flatMap(([folder, granted]) => {
    const phrases = describePermissions(granted);
    return phrases.length === 0 ? [] : [`${folder}: ${phrases.join(', ')}`];
  });
  const listed =
    folders.length === 0 ? ['No folders are trusted but the examples.'] : folders.map((entry) => entry.folder);
  return allowed.length === 0 ? listed : [...listed, '', 'Allowed in addition:', ...allowed];
}

/** The command is the user's yes to what the project asks for. */
function allow(folder: string): Promise<void> {
  return withHub(async (hub) => {
    const { permissions } = await hub.describe(folder);
    await ensureAllowed(folder, permissions, consentOf(true));
    const phrases = describePermissions(permissions);
    if (phrases.length > 0) process.stdout.write(`The project in it ${phrases.join(', ')}: allowed.\n`);
  });
}
