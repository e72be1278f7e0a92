import { copyFile, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../core/node/file-error.ts';
import { repository } from './test-home.ts';

/**
 * The machine's survey of BLAS libraries, which the first run in an empty home makes (a third of a second of processor
 * time). It names the machine and the versions that it holds for, so tests with a home of their own share it.
 */
const kept = join(repository, 'node_modules', '.cache', 'tutti-blas.json');
const surveyOf = (home: string): string => join(home, 'cache', 'blas.json');

/** Gives an empty home the survey of an earlier test, if there is one. */
export async function takeSurvey(home: string): Promise<void> {
  await mkdir(join(home, 'cache'), { recursive: true, mode: 0o700 });
  await copyIfThere(kept, surveyOf(home));
}

/** Keeps a home's survey, if it has one, for later tests. Call it before the home is removed. */
export async function keepSurvey(home: string): Promise<void> {
  const aside = `${kept}.${crypto.randomUUID()}`;
  await mkdir(join(kept, '..'), { recursive: true });
  if (await copyIfThere(surveyOf(home), aside)) await rename(aside, kept);
}

async function copyIfThere(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return false;
  }
}
