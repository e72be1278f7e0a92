import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ASIDE_ENDING, writeFlushed } from '../../../core/node/atomic-file.ts';
import { flushFolder } from '../../../core/node/flush-folder.ts';
import { keptCodeFolder, noteTrained } from '../configuration/kept-code.ts';
import { hashScripts, readProjectScripts } from '../configuration/project-source.ts';

/**
 * Keeps a copy of a project's scripts in the run's folder, once for each content: `sources/<hash>/`. Its name is the attempt's
 * `sourceHash`. Nothing is kept of a project without scripts or folder.
 * @param recorded the attempt's `sourceHash`
 */
export async function keepSource(
  folder: string,
  projectFolder: string,
  recorded: string | null | undefined,
): Promise<void> {
  // A resume may train with code that the run has kept.
  if (recorded && existsSync(keptCodeFolder(folder, recorded))) return noteTrained(recorded);
  const scripts = await readProjectScripts(projectFolder);
  if (scripts.length === 0) return;
  const hash = hashScripts(scripts);
  const target = keptCodeFolder(folder, hash);
  await noteTrained(hash);
  if (existsSync(target)) return;
  const aside = `${target}${ASIDE_ENDING}`;
  await rm(aside, { recursive: true, force: true });
  for (const { path, content } of scripts) await writeFlushed(join(aside, path), content);
  await mkdir(dirname(target), { recursive: true });
  await rename(aside, target);
  await flushFolder(dirname(target));
}
