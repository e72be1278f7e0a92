import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import type { OptionDescription } from '../../../core/options/index.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import type { DescribedProject, ProjectCard } from '../../../core/protocol/pages/rpc.ts';
import type { Hub } from '../../hub/hub.ts';
import { appFile } from '../../hub/app-files.ts';
import { optionsOf, resolveConfig } from '../../runs/configuration/resolve-config.ts';
import { writeFileAtomic } from '../../../core/node/atomic-file.ts';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';
import { homePaths } from '../../store/home.ts';
import { ProjectTitles } from './project-titles.ts';
import { describeRow } from '../runs/run-list.ts';

const examplesFolder = appFile('examples');
const rememberedSchema = z.array(z.string());

/** What a card says of a project itself. */
type Title = Pick<ProjectCard, 'name' | 'description' | 'task' | 'isDescribed' | 'error'>;

interface Described {
  /** Of the newest source in the folder, when it was described. */
  modifiedMs: number;
  description: Promise<ProjectDescription>;
}

/** The projects that pages offer: the examples, and folders that the user opened. */
export class Projects {
  readonly #hub: Hub;
  readonly #described = new Map<string, Described>();
  readonly #titles = new ProjectTitles();
  /** Why projects could not be described, and of which newest source that holds; null where there was no folder. */
  readonly #failures = new Map<string, { modifiedMs: number | null; message: string }>();
  readonly #listeners = new Set<(folders: string[]) => void>();

  constructor(hub: Hub) {
    this.#hub = hub;
  }

  /**
   * Examples first, then projects opened, the latest first. Waits for no project's code, so that pages open at once: what it says is
   * known of projects that were described before and have not changed since.
   */
  async list(): Promise<ProjectCard[]> {
    const folders = [...(await exampleFolders()), ...(await readRemembered())];
    return Promise.all(folders.map(async (folder) => this.#cardWith(folder, await this.#knownTitle(folder))));
  }

  /** With what the project's code says of itself, or why it cannot be loaded. */
  async card(folder: string): Promise<ProjectCard> {
    const absolute = resolve(folder);
    const modifiedMs = await newestSourceMs(absolute).catch(() => null);
    try {
      const { name, description, task } = await this.describe(absolute);
      const title = { name, description, task };
      this.#failures.delete(absolute);
      if (modifiedMs !== null) await this.#titles.keep(absolute, { modifiedMs, ...title });
      return this.#cardWith(absolute, { ...title, isDescribed: true, error: null });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#failures.set(absolute, { modifiedMs, message });
      return this.#cardWith(absolute, failedTitle(absolute, message));
    }
  }

  /** @throws when the folder holds no project */
  async open(folder: string): Promise<ProjectCard> {
    const absolute = resolve(folder);
    await this.describe(absolute);
    const others = (await readRemembered()).filter((other) => other !== absolute);
    if (!isExample(absolute)) await this.#remember([absolute, ...others]);
    return this.card(absolute);
  }

  async forget(folder: string): Promise<void> {
    await this.#remember((await readRemembered()).filter((other) => other !== resolve(folder)));
    await this.#titles.forget(resolve(folder));
  }

  /** Folders that were opened, the latest first. */
  remembered(): Promise<string[]> {
    return readRemembered();
  }

  /** Calls the listener with these folders whenever one is opened or forgotten here. @returns ends that */
  subscribe(listener: (folders: string[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What a project says of itself; asked anew once a file of it has changed. @throws with the project's own error */
  async describe(folder: string): Promise<ProjectDescription> {
    const absolute = resolve(folder);
    const modifiedMs = await newestSourceMs(absolute);
    const known = this.#described.get(absolute);
    if (known?.modifiedMs === modifiedMs) return known.description;
    const description = this.#hub.describe(absolute);
    this.#described.set(absolute, { modifiedMs, description });
    return description;
  }

  /** A project with all that can be set for a run of it. */
  async describeOptions(folder: string): Promise<DescribedProject> {
    const description = await this.describe(folder);
    return { description, options: pageOptions(description), defaults: resolveConfig(description, []) };
  }

  async #remember(folders: string[]): Promise<void> {
    await writeFileAtomic(homePaths().projects, `${JSON.stringify(folders, null, 2)}\n`);
    for (const listener of this.#listeners) listener(folders);
  }

  #cardWith(folder: string, title: Title): ProjectCard {
    const [last] = this.#hub.runs({ projectFolder: folder, limit: 1 }).map(describeRow);
    const lastRun = last ? { id: last.id, status: last.status, best: last.best, endedAt: last.endedAt } : null;
    return { ...title, folder, isExample: isExample(folder), lastRun };
  }

  async #knownTitle(folder: string): Promise<Title> {
    // A folder that is gone has no times; its card says so when it is asked for.
    const modifiedMs = await newestSourceMs(folder).catch(() => null);
    const failure = this.#failures.get(folder);
    if (failure?.modifiedMs === modifiedMs) return failedTitle(folder, failure.message);
    const known = modifiedMs === null ? null : await this.#titles.find(folder, modifiedMs);
    if (known === null) return titleOfFolder(folder);
    const { modifiedMs: _modifiedMs, ...title } = known;
    return { ...title, isDescribed: true, error: null };
  }
}

function titleOfFolder(folder: string): Title {
  return { name: basename(folder), description: '', task: '', isDescribed: false, error: null };
}

function failedTitle(folder: string, message: string): Title {
  return { ...titleOfFolder(folder), isDescribed: true, error: message };
}

/** Options of every run, then the hyperparameters at the place where the configuration has them. */
function pageOptions(project: ProjectDescription): OptionDescription[] {
  const inside = (path: string): string => `hyperparameters.${path}`;
  return optionsOf(project).flatMap((option) => {
    if (option.path === 'hyperparameters') return [];
    if (!project.hyperparameters.includes(option)) return [option];
    const { path, section, when } = option;
    return [
      {
        ...option,
        path: inside(path),
        ...(section && { section: { ...section, path: inside(section.path) } }),
        ...(when && { when: { ...when, path: inside(when.path) } }),
      },
    ];
  });
}

function isExample(folder: string): boolean {
  return resolve(folder, '..') === examplesFolder;
}

async function exampleFolders(): Promise<string[]> {
  const names = await readdir(examplesFolder, { withFileTypes: true });
  return names
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(examplesFolder, name))
    .sort();
}

/** @throws when there is no such folder */
async function newestSourceMs(folder: string): Promise<number> {
  try {
    const names = (await readdir(folder)).filter((name) => /\.[cm]?[jt]s$/.test(name));
    const timesMs = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).mtimeMs));
    return Math.max(0, ...timesMs);
  } catch (error) {
    throw explainFileError(error, folder, 'open the project');
  }
}

async function readRemembered(): Promise<string[]> {
  const path = homePaths().projects;
  try {
    return rememberedSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    if (errorCode(error) !== null) throw explainFileError(error, path, 'read');
    throw new Error(`${path} is damaged: it must be a list of folders in JSON. Correct or remove it.`, {
      cause: error,
    });
  }
}
