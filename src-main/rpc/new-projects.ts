import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { explainFileError } from '../../core/node/file-error.ts';
import { planData } from '../../core/preprocessing/plans/image-plan.ts';
import type { HubApi } from '../../core/protocol/pages/hub-methods.ts';
import type { DataFile, Inspected, Inspection, NewProject } from '../../core/protocol/pages/new-project.ts';
import type { ProjectCard } from '../../core/protocol/pages/project-views.ts';
import type { PageApi } from '../../core/protocol/pages/rpc.ts';
import { type FileProfile, tableOf } from '../../core/protocol/run/inspect-task.ts';
import { inspectData } from '../creation/inspect-data.ts';
import { whyOccupied, writePlanned } from '../creation/write-project.ts';
import { trustFolder } from '../trust/project-trust.ts';
import type { Uploads } from './runs/uploads.ts';
import type { Projects } from './projects/projects.ts';

/** Where projects from sent files go, in the user's home: nobody knows where these files lie. */
const usualFolder = 'tutti-projects';

interface KnownProfile {
  /** The request, with the file's size and time. */
  key: string;
  controller: AbortController;
  profile: Promise<FileProfile>;
  isRead: boolean;
}

/** Projects that one page makes from files of data. */
export class NewProjects {
  readonly #uploads: Pick<Uploads, 'pathOf'>;
  readonly #projects: Pick<Projects, 'add'>;
  readonly #tell: PageApi['inspecting'];
  /** The latest inspection: creating the project, or a step back, needs its profile again. */
  #latest: KnownProfile | null = null;

  /** @param tell called with how far the latest inspection is */
  constructor(uploads: Pick<Uploads, 'pathOf'>, projects: Pick<Projects, 'add'>, tell: PageApi['inspecting']) {
    this.#tell = tell;
    this.#uploads = uploads;
    this.#projects = projects;
  }

  methods() {
    return {
      inspectData: (inspection) => this.inspect(inspection),
      stopInspecting: async () => this.stop(),
      createProject: (project) => this.create(project),
    } satisfies Partial<HubApi>;
  }

  async inspect(inspection: Inspection): Promise<Inspected> {
    const path = await this.#pathOf(inspection.file);
    const profile = await this.#profile(path, inspection);
    const name = tableOf(profile) === null ? basename(path) : titleOf(basename(path));
    return { profile, folder: proposedFolder(inspection.file, path, name) };
  }

  /** Ends the inspection that is under way. */
  stop(): void {
    if (this.#latest === null || this.#latest.isRead) return;
    this.#latest.controller.abort(new Error('Reading the file was cancelled.'));
    this.#latest = null;
  }

  async create({ folder, task, roles, ...inspection }: NewProject): Promise<ProjectCard> {
    if (!isAbsolute(folder)) throw new Error(`"${folder}" is no absolute path. Write the folder from its root on.`);
    const target = resolve(folder);
    const occupied = whyOccupied(target);
    if (occupied !== null) throw new Error(occupied);
    const path = await this.#pathOf(inspection.file);
    const plan = planData(await this.#profile(path, inspection), { roles, ...(task !== undefined && { task }) });
    try {
      await writePlanned(target, plan, { path, images: imagesOf(path, inspection) });
    } catch (error) {
      throw explainFileError(error, target, 'write the project into');
    }
    await trustFolder(target);
    return this.#projects.add(target);
  }

  async #pathOf(file: DataFile): Promise<string> {
    return 'path' in file ? resolve(file.path) : this.#uploads.pathOf(file.upload);
  }

  async #profile(path: string, { file: _file, ...understanding }: Inspection): Promise<FileProfile> {
    const images = imagesOf(path, understanding);
    const states = await Promise.all([path, ...(images === undefined ? [] : [images])].map(stateOf));
    const key = JSON.stringify([path, states, understanding]);
    if (this.#latest?.key === key) return this.#latest.profile;
    this.stop();
    const controller = new AbortController();
    const reading = { ...understanding.reading, ...(images !== undefined && { images }) };
    const task = { ...understanding, path, reading };
    const profile = inspectData(task, { signal: controller.signal, progress: this.#tell });
    const own: KnownProfile = { key, controller, profile, isRead: false };
    this.#latest = own;
    try {
      const found = await profile;
      own.isRead = true;
      return found;
    } catch (error) {
      // The file may be readable the next time.
      if (this.#latest === own) this.#latest = null;
      throw error;
    }
  }
}

/** The folder of the images that a table names, which is given from the table's folder on. */
function imagesOf(path: string, { reading: { images } }: Pick<Inspection, 'reading'>): string | undefined {
  return images === undefined ? undefined : resolve(dirname(path), images);
}

/** Tells data that have changed: the size, and the latest time, of a file or of all in a folder. */
async function stateOf(path: string): Promise<[bytes: number, modifiedMs: number]> {
  try {
    const isFolder = (await stat(path)).isDirectory();
    const paths = isFolder ? (await readdir(path, { recursive: true })).map((own) => join(path, own)) : [];
    const found = await Promise.all([path, ...paths].map((own) => stat(own)));
    const latestMs = found.reduce((most, { mtimeMs }) => Math.max(most, mtimeMs), 0);
    return [found.reduce((sum, { size }) => sum + size, 0), latestMs];
  } catch (error) {
    throw explainFileError(error, path, 'read');
  }
}

/** The name of a file without its endings. */
function titleOf(file: string): string {
  const own = file.replace(/\.(gz|zip)$/i, '');
  return basename(own, extname(own));
}

/** A new folder beside the data, or in the user's home. */
function proposedFolder(file: DataFile, path: string, name: string): string {
  const parent = 'path' in file ? dirname(path) : join(homedir(), usualFolder);
  for (let count = 1; ; count++) {
    const folder = join(parent, count === 1 ? name : `${name}-${count}`);
    if (!existsSync(folder)) return folder;
  }
}
