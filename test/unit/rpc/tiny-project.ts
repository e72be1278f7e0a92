import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The folder of a small project. Tutti keeps compiled code for each project's folder, so runs of this one start in half
 * of the time that those of a new folder take.
 */
export const tinyProject = join(import.meta.dirname, 'projects', 'blobs');

const source = readFileSync(join(tinyProject, 'project.ts'), 'utf8');

/**
 * Like the source of {@link tinyProject}, but ranks compute differently with weights of the same shapes: rank 0 with
 * the first activation, rank 1 with the second.
 */
export function sourceWithActivations(first: string, second: string): string {
  return source
    .replace("activation: 'relu'", `activation: ['${first}', '${second}'][rank]`)
    .replace('model: ({ hyperparameters,', 'model: ({ rank, hyperparameters,');
}

/** Writes the project into a new folder in `parent`, for tests that change it. @returns that folder */
export async function writeTinyProject(parent: string, text = source): Promise<string> {
  const folder = join(parent, 'blobs');
  await mkdir(folder);
  await writeFile(join(folder, 'project.ts'), text);
  return folder;
}
