import { join } from 'node:path';
import { z } from 'zod';
import { createFileExclusively } from '../../core/node/atomic-file.ts';
import { errorCode, explainFileError } from '../../core/node/file-error.ts';
import { makeFolder } from '../../core/node/make-folder.ts';
import { type Study, studySchema } from '../../core/protocol/studies/study.ts';
import { toJson } from '../../core/protocol/wire/numbers.ts';
import { messageOf } from '../../core/text/errors.ts';
import { foldersIn, workersFolder } from '../campaigns/locks.ts';
import { homePaths } from '../store/home.ts';
import { privateMode } from '../store/private-home.ts';
import { readOwnText } from '../../core/node/own-files.ts';

/** Paths in a study's folder. Formats: docs/formats.md. */
export function studyPaths(folder: string) {
  return {
    study: join(folder, 'study.json'),
    trials: join(folder, 'trials.jsonl'),
    /** A lock for each process that works on the study. */
    workers: workersFolder(folder),
  };
}

/** Creates the folder of a new study in Tutti's home. @returns the folder */
export async function createStudyFolder(study: Study): Promise<string> {
  const folder = join(homePaths().studies, study.id);
  const paths = studyPaths(folder);
  try {
    await makeFolder(folder, privateMode);
    await makeFolder(paths.workers, privateMode);
  } catch (error) {
    throw explainFileError(error, folder, 'create the folder of the study');
  }
  if (await createFileExclusively(paths.study, `${toJson(study, 2)}\n`)) return folder;
  throw new Error(`${folder} already holds a study. Choose another name.`);
}

/** @throws Error that says whether the file is missing, is not whole, or does not follow the format */
export async function readStudy(folder: string): Promise<Study> {
  const path = studyPaths(folder).study;
  const text = await readOwnText(folder, 'study.json').catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new Error(`${folder} holds no study: it has no study.json. \`tutti studies\` lists the studies.`, {
      cause: error,
    });
  });
  try {
    return studySchema.parse(JSON.parse(text));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    throw new Error(`${path} does not follow the format of a study (format 1): ${reason}\nRestore it from a copy.`, {
      cause: error,
    });
  }
}

/** The folders of all studies. */
export function listStudyFolders(): Promise<string[]> {
  return foldersIn(homePaths().studies);
}

/**
 * The folder of a study by its id, its name, or the beginning of one.
 * @throws Error if there is none, or several
 */
export async function findStudy(text: string): Promise<{ folder: string; study: Study }> {
  const read = (await listStudyFolders()).map(async (folder) => ({ folder, study: await unlessBroken(folder) }));
  const all = (await Promise.all(read)).flatMap(({ folder, study }) => (study === null ? [] : [{ folder, study }]));
  const meanings: ((study: Study) => boolean)[] = [
    ({ id }) => id === text,
    ({ name }) => name === text,
    ({ id, name }) => text !== '' && (id.startsWith(text) || name.startsWith(text)),
  ];
  for (const meaning of meanings) {
    const found = all.filter(({ study }) => meaning(study));
    if (found.length === 1) return found[0];
    if (found.length === 0) continue;
    throw new Error(`"${text}" may be any of these studies; name one by its id: ${listed(found)}.`);
  }
  const newest = all.toSorted((left, right) => (left.study.createdAt < right.study.createdAt ? 1 : -1)).slice(0, 3);
  const remedy =
    newest.length === 0
      ? 'There are no studies yet: begin one with `tutti search`.'
      : `The newest are ${listed(newest)}.`;
  throw new Error(`No study has the id or name "${text}", or one that begins with it. ${remedy}`);
}

function listed(studies: readonly { study: Study }[]): string {
  return studies.map(({ study }) => `${study.id} ("${study.name}")`).join(', ');
}

/** Null for a folder that holds no study, or one that cannot be read; `readStudy` says why. */
async function unlessBroken(folder: string): Promise<Study | null> {
  try {
    return await readStudy(folder);
  } catch {
    return null;
  }
}
