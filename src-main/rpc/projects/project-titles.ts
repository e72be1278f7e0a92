import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { writeFileAtomic } from '../../../core/node/atomic-file.ts';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';
import { MadeOnce } from '../../../core/text/made-once.ts';
import { homePaths } from '../../store/home.ts';

const titleSchema = z.strictObject({
  /** Modification time of the project's newest source file when it was described. */
  modifiedMs: z.number(),
  name: z.string(),
  description: z.string(),
  task: z.string(),
});
/** The titles by folder. */
const fileSchema = z.record(z.string(), titleSchema);

/** The title on a project's card, for one version of its sources. */
export type ProjectTitle = z.output<typeof titleSchema>;

/**
 * Caches the titles of described projects in Tutti's cache. Describing a project takes a process and a second, and the
 * first page shows all projects.
 */
export class ProjectTitles {
  readonly #titles = new MadeOnce<Map<string, ProjectTitle>>();
  /** The last write. Writes run one after the other. */
  #writing: Promise<void> = Promise.resolve();

  /** Null if the project is unknown or has changed since. */
  async find(folder: string, modifiedMs: number): Promise<ProjectTitle | null> {
    const title = (await this.#all()).get(folder);
    return title?.modifiedMs === modifiedMs ? title : null;
  }

  async keep(folder: string, title: ProjectTitle): Promise<void> {
    if ((await this.find(folder, title.modifiedMs)) !== null) return;
    (await this.#all()).set(folder, title);
    await this.#write();
  }

  async forget(folder: string): Promise<void> {
    if ((await this.#all()).delete(folder)) await this.#write();
  }

  #all(): Promise<Map<string, ProjectTitle>> {
    return this.#titles.get(readTitles);
  }

  #write(): Promise<void> {
    const writing = this.#writing.then(() => this.#writeAll());
    // The caller gets the error of this write; the next write must run anyway.
    this.#writing = writing.catch(() => undefined);
    return writing;
  }

  async #writeAll(): Promise<void> {
    const path = homePaths().projectTitles;
    await mkdir(dirname(path), { recursive: true });
    await writeFileAtomic(path, `${JSON.stringify(Object.fromEntries(await this.#all()), null, 2)}\n`);
  }
}

/** The file is a cache, so a damaged one counts as missing and is replaced. */
async function readTitles(): Promise<Map<string, ProjectTitle>> {
  const path = homePaths().projectTitles;
  try {
    return new Map(Object.entries(fileSchema.parse(JSON.parse(await readFile(path, 'utf8')))));
  } catch (error) {
    if (errorCode(error) === null || errorCode(error) === 'ENOENT') return new Map();
    throw explainFileError(error, path, 'read');
  }
}
