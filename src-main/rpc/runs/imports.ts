import { rm, stat } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { unlessMissing } from '../../../core/node/file-error.ts';
import { type ImportedRunView, type ImportRequest, runFileEnding } from '../../../core/protocol/pages/run-data.ts';
import type { Opened } from '../../../core/protocol/pages/project-views.ts';
import { printableLine } from '../../../core/text/printable.ts';
import type { Hub } from '../../hub/hub.ts';
import { type ImportOptions, RunPresentError } from '../../import/import-run.ts';
import { holdsProject } from '../../runs/configuration/project.ts';
import { holdsRun } from '../../store/runs/known-folders.ts';
import type { Projects } from '../projects/projects.ts';
import type { Uploads } from './uploads.ts';

/** Imports a file that a page has sent, and removes it. */
export async function importSent(
  hub: Hub,
  { upload, name }: ImportRequest,
  uploads: Pick<Uploads, 'take'>,
): Promise<ImportedRunView> {
  const { folder, input } = await uploads.take(upload);
  try {
    return await importOnce(hub, input, { name: printableLine(name) });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Opens what a path leads to. A run's folder that also holds a project, as `--out .` leaves it, is opened as the
 * project.
 */
export async function openAnyPath(hub: Hub, projects: Projects, path: string): Promise<Opened> {
  const absolute = resolve(path);
  if (await isExport(absolute)) {
    const { id, isNew } = await importOnce(hub, absolute, {});
    return { kind: 'run', id, isImported: isNew };
  }
  if (!holdsRun(absolute) || holdsProject(absolute)) return { kind: 'project', project: await projects.open(path) };
  return { kind: 'run', id: (await hub.find(absolute)).id, isImported: false };
}

async function isExport(path: string): Promise<boolean> {
  if (![runFileEnding, '.zip'].includes(extname(path).toLowerCase())) return false;
  // The import says what is wrong with a file that is missing.
  return (await unlessMissing(stat(path)))?.isDirectory() !== true;
}

/** A file that is opened again shows the run that it became. */
async function importOnce(hub: Hub, file: string, options: ImportOptions): Promise<ImportedRunView> {
  try {
    return { id: (await hub.import(file, options)).run.id, isNew: true };
  } catch (error) {
    if (error instanceof RunPresentError) return { id: error.run.id, isNew: false };
    throw error;
  }
}
