import { existsSync } from 'node:fs';
import type { ProjectCard, TrustedFolder } from '../../../core/protocol/pages/project-views.ts';
import { describePermissions, missingPermissions } from '../../../core/protocol/run/permissions.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import { allowedPermissions, isInside, trustOf } from '../../trust/project-trust.ts';
import { readTrustFile } from '../../trust/trust-file.ts';

/** The folders that the user trusts, for the settings. */
export async function listTrusted(): Promise<TrustedFolder[]> {
  const { folders, permissions } = readTrustFile();
  return folders.map(({ folder, since }) => ({
    folder,
    since,
    allowed: Object.entries(permissions).flatMap(([project, granted]) => {
      const phrases = isInside(project, folder) ? describePermissions(granted) : [];
      return phrases.length === 0 ? [] : [`${project}: ${phrases.join(', ')}`];
    }),
  }));
}

/** The part of a card that says whether the project may run. A folder that is gone is no question of trust: it cannot be read. */
export function trustOnCard(folder: string): Pick<ProjectCard, 'isTrusted' | 'warning'> {
  if (!existsSync(folder)) return { isTrusted: true, warning: null };
  const { by, warning } = trustOf(folder);
  return { isTrusted: by !== null, warning };
}

/** What a project asks for and the user has not allowed, as phrases. */
export function asksOf(folder: string, { permissions }: ProjectDescription): string[] {
  const missing = missingPermissions(permissions, allowedPermissions(folder));
  return missing === null ? [] : describePermissions(missing);
}
