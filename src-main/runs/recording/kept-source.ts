import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ASIDE_ENDING, renameOver } from '../../../core/node/atomic-file.ts';
import { flushFolder } from '../../../core/node/make-folder.ts';
import { removeOwn, writeOwnFile } from '../../../core/node/own-folders.ts';
import { keptCodeFolder } from '../configuration/kept-code.ts';
import { hashScripts, readProjectScripts } from '../configuration/project-source.ts';

/**
 * Keeps a copy of a project's scripts in the run's folder, once for each content: `sources/<hash>/`. Its name is the
 * attempt's `sourceHash`. Nothing is kept of a project without scripts or folder.
 * @param recorded the attempt's `sourceHash`
 * @returns the hash of what is kept; null if nothing is
 */
export async function keepSource(
  folder: string,
  projectFolder: string,
  recorded: string | null | undefined,
): Promise<string | null> {
  // A resume may train with code that the run has kept.
  if (recorded && existsSync(keptCodeFolder(folder, recorded))) return recorded;
  const scripts = await readProjectScripts(projectFolder);
  if (scripts.length === 0) return null;
  const hash = hashScripts(scripts);
  const target = keptCodeFolder(folder, hash);
  if (existsSync(target)) return hash;
  const aside = relative(folder, `${target}${ASIDE_ENDING}`);
  await removeOwn(folder, aside);
  for (const { path, content } of scripts) await writeOwnFile(folder, join(aside, path), content);
  await renameOver(join(folder, aside), target);
  await flushFolder(dirname(target));
  return hash;
}
