import { openAsBlob } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { unlessMissing } from '../../../core/node/file-error.ts';
import { type FileKind, fileKind, namedKind } from '../../../core/protocol/pages/zip-contents.ts';
import type { ImportedRunView, ImportRequest } from '../../../core/protocol/pages/run-data.ts';
import type { Opened } from '../../../core/protocol/pages/project-views.ts';
import { printableLine } from '../../../core/text/printable.ts';
import { holdsImages } from '../../creation/inspect-data.ts';
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
 * @throws Error where it is nothing that can be opened, with the remedy
 */
export async function openAnyPath(hub: Hub, projects: Projects, path: string): Promise<Opened> {
  const absolute = resolve(path);
  const found = await unlessMissing(stat(absolute));
  const kind = found === null ? namedKind(absolute) : found.isFile() ? await kindOf(absolute, found.size) : null;
  if (kind === 'table') return { kind: 'data', path: absolute };
  if (kind === 'run') {
    const { id, isNew } = await importOnce(hub, absolute, {});
    return { kind: 'run', id, isImported: isNew };
  }
  const isProject = holdsProject(absolute);
  if (!isProject && holdsRun(absolute)) return { kind: 'run', id: (await hub.find(absolute)).id, isImported: false };
  if (!isProject && found?.isDirectory() && (await holdsImages(absolute))) return { kind: 'data', path: absolute };
  return { kind: 'project', project: await projects.open(path) };
}

async function kindOf(path: string, bytes: number): Promise<FileKind | null> {
  const file = await openAsBlob(path);
  const read = async (start: number, end: number) => new Uint8Array(await file.slice(start, end).arrayBuffer());
  return fileKind(basename(path), bytes, read);
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
