import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { writeFileAtomic } from '../../../core/node/atomic-file.ts';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';
import { homePaths } from '../../store/home.ts';

const fileSchema = z.record(z.string(), z.iso.datetime());

/** When the user removed projects from the list, by folder. A run that begins later brings its project back. */
export async function readForgotten(): Promise<Readonly<Record<string, string>>> {
  const path = homePaths().forgottenProjects;
  try {
    return fileSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return {};
    if (errorCode(error) !== null) throw explainFileError(error, path, 'read');
    throw new Error(`${path} is damaged: it must be times by folder in JSON. Correct or remove it.`, { cause: error });
  }
}

export async function noteForgotten(folder: string, time: string | null): Promise<void> {
  const { [folder]: before, ...others } = await readForgotten();
  if (before === undefined && time === null) return;
  const next = time === null ? others : { ...others, [folder]: time };
  await writeFileAtomic(homePaths().forgottenProjects, `${JSON.stringify(next, null, 2)}\n`);
}
