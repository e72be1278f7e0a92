import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../../core/text/errors.ts';
import type { OptionDescription } from '../../../core/options/index.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import type { RunRow } from '../../../core/protocol/pages/run-list.ts';
import type {
  DescribedProject,
  LastRun,
  ProjectCard,
  ProjectPicture,
} from '../../../core/protocol/pages/project-views.ts';
import type { Hub } from '../../hub/hub.ts';
import { holdsProject } from '../../runs/configuration/project.ts';
import { optionsOf, resolveConfig } from '../../runs/configuration/resolve-config.ts';
import { writeFileAtomic } from '../../../core/node/atomic-file.ts';
import { errorCode, explainFileError } from '../../../core/node/file-error.ts';
import { folderKey, isDirectlyIn, isSameFolder } from '../../../core/node/same-folder.ts';
import { examplesFolder } from '../../trust/examples.ts';
import { homePaths } from '../../store/home.ts';
import { allowPermissions, noProject, requireTrust, trustFolder } from '../../trust/project-trust.ts';
import { findPicture } from './project-picture.ts';
import { ProjectTitles } from './project-titles.ts';
import { asksOf, trustOnCard } from './folders.ts';

const rememberedSchema = z.array(z.string());

/** The part of a card that comes from the project itself. */
type Title = Pick<ProjectCard, 'name' | 'description' | 'task' | 'isDescribed' | 'error' | 'asks'>;

interface Described {
  /** Modification time of the newest source file in the folder when it was described. */
  modifiedMs: number;
  description: Promise<ProjectDescription>;
}

/** Most projects that are in the list only because they were trained. */
const mostTrained = 200;

/**
 * The projects that pages offer: the examples, the folders that the user opened, and those that were trained from a
 * terminal.
 */
export class Projects {
  readonly #hub: Hub;
  readonly #described = new Map<string, Described>();
  readonly #titles = new ProjectTitles();
  /**
   * Why projects could not be described. A failure holds for one time of the newest source; null: the folder did not
   * exist.
   */
  readonly #failures = new Map<string, { modifiedMs: number | null; message: string }>();
  readonly #listeners = new Set<(folders: string[]) => void>();

  constructor(hub: Hub) {
    this.#hub = hub;
  }

  /**
   * Examples first, then opened projects, the most recent first, then others that were trained, the last used first.
   * Runs no project's code, so that pages open at once: cards are complete for projects that were described before and
   * have not changed since. A project that cannot be read has its error on its card.
   */
  async list(): Promise<ProjectCard[]> {
    const listed = [...(await exampleFolders()), ...(await readRemembered())];
    const folders = [...listed, ...(await this.#trained(listed))];
    return Promise.all(folders.map(async (folder) => this.#cardWith(folder, await this.#knownTitle(folder))));
  }

  /** The picture of a project's card; null if there is none. */
  picture(folder: string): Promise<ProjectPicture | null> {
    return findPicture(this.#hub, resolve(folder));
  }

  /** The card with the project's description of itself, or with the reason why it cannot be loaded. */
  async card(folder: string): Promise<ProjectCard> {
    const absolute = resolve(folder);
    if (!trustOnCard(absolute).isTrusted) return this.#cardWith(absolute, titleOfFolder(absolute));
    let modifiedMs: number | null = null;
    try {
      modifiedMs = await newestSourceMs(absolute);
      const project = await this.describe(absolute);
      const { name, description, task } = project;
      const title = { name, description, task };
      this.#failures.delete(absolute);
      await this.#titles.keep(absolute, { modifiedMs, ...title });
      return this.#cardWith(absolute, { ...title, isDescribed: true, error: null, asks: asksOf(absolute, project) });
    } catch (error) {
      const message = messageOf(error);
      this.#failures.set(absolute, { modifiedMs, message });
      return this.#cardWith(absolute, failedTitle(absolute, message));
    }
  }

  /** Remembers a folder as a project, trusted or not. @throws when it holds none */
  async open(folder: string): Promise<ProjectCard> {
    const absolute = await this.#spelling(folder);
    if (trustOnCard(absolute).isTrusted) await this.describe(absolute);
    else if (!holdsProject(absolute)) throw new Error(noProject(absolute));
    return this.add(absolute);
  }

  /** Remembers a project that was just written. If it cannot be loaded, its card says why. */
  async add(absolute: string): Promise<ProjectCard> {
    const others = (await readRemembered()).filter((other) => other !== absolute);
    if (!isExample(absolute)) await this.#remember([absolute, ...others]);
    await noteForgotten(absolute, null);
    return this.card(absolute);
  }

  /** Trusts a project's folder. @returns its card, now described */
  async trust(folder: string): Promise<ProjectCard> {
    await trustFolder(folder);
    return this.card(folder);
  }

  /** Allows a project what the user has read on its card. @throws when it asks for something else by now */
  async allow(folder: string, read: readonly string[]): Promise<ProjectCard> {
    const project = await this.describe(folder);
    const asks = asksOf(resolve(folder), project);
    if (asks.some((phrase) => !read.includes(phrase))) {
      throw new Error(`The project in ${folder} has changed: it ${asks.join(', ')}. Read its card again.`);
    }
    await allowPermissions(folder, project.permissions);
    return this.card(folder);
  }

  async forget(folder: string): Promise<void> {
    await this.#remember((await readRemembered()).filter((other) => !isSameFolder(other, folder)));
    await this.#titles.forget(resolve(folder));
    await noteForgotten(resolve(folder), new Date().toISOString());
  }

  /** Folders that were opened, the most recent first. */
  remembered(): Promise<string[]> {
    return readRemembered();
  }

  /**
   * Calls the listener with these folders whenever this process opens or forgets one.
   * @returns a function that unsubscribes
   */
  subscribe(listener: (folders: string[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * A project's description of itself. The project runs again only after one of its files changed.
   * @throws the project's own error
   */
  async describe(folder: string): Promise<ProjectDescription> {
    const absolute = resolve(folder);
    const modifiedMs = await newestSourceMs(absolute);
    // What was described while it was trusted does not count once the trust is withdrawn.
    requireTrust(absolute);
    const known = this.#described.get(absolute);
    if (known?.modifiedMs === modifiedMs) return known.description;
    const description = this.#hub.describe(absolute);
    const described = { modifiedMs, description };
    this.#described.set(absolute, described);
    // The machine may have been too busy, or lack something that is there the next time.
    description.catch(() => this.#described.get(absolute) === described && this.#described.delete(absolute));
    return description;
  }

  /** A project with all options of its runs. */
  async describeOptions(folder: string): Promise<DescribedProject> {
    const description = await this.describe(folder);
    return { description, options: pageOptions(description), defaults: resolveConfig(description, []) };
  }

  /**
   * The path under which a folder is listed already: the same folder under another path, such as a symbolic link, would
   * be listed twice, without its runs.
   */
  async #spelling(folder: string): Promise<string> {
    const trained = this.#hub.index.projects(mostTrained).map((project) => project.folder);
    const listed = [...(await exampleFolders()), ...(await readRemembered()), ...trained];
    const absolute = resolve(folder);
    if (listed.includes(absolute)) return absolute;
    const own = folderKey(absolute);
    return listed.find((other) => folderKey(other) === own) ?? absolute;
  }

  async #remember(folders: string[]): Promise<void> {
    await writeFileAtomic(homePaths().projects, `${JSON.stringify(folders, null, 2)}\n`);
    for (const listener of this.#listeners) listener(folders);
  }

  /**
   * Folders whose projects were trained and are not in the list yet, without those that the user removed and has not
   * trained since.
   */
  async #trained(listed: readonly string[]): Promise<string[]> {
    const forgotten = await readForgotten();
    return this.#hub.index
      .projects(mostTrained)
      .filter(({ folder, lastStartedAt }) => !listed.includes(folder) && lastStartedAt > (forgotten[folder] ?? ''))
      .map(({ folder }) => folder);
  }

  async #cardWith(folder: string, title: Title): Promise<ProjectCard> {
    const [last] = this.#hub.runs({ projectFolder: folder, limit: 1 });
    const isGone = !holdsProject(folder);
    return {
      ...title,
      ...trustOnCard(folder),
      // Nothing else tells what was in a folder that is gone.
      name: isGone && last !== undefined ? last.project : title.name,
      folder,
      isExample: isExample(folder),
      isOpened: (await readRemembered()).includes(folder),
      isGone,
      lastRun: last === undefined ? null : lastRunOf(last),
    };
  }

  /** What a project asks for, if this process has described it. */
  async #knownAsks(folder: string): Promise<string[]> {
    const known = this.#described.get(folder);
    return known === undefined ? [] : asksOf(folder, await known.description);
  }

  async #knownTitle(folder: string): Promise<Title> {
    if (!trustOnCard(folder).isTrusted) return titleOfFolder(folder);
    let modifiedMs: number | null = null;
    try {
      modifiedMs = await newestSourceMs(folder);
    } catch (error) {
      // A missing folder has no times. `card` reports it; the list only shows the folder's name.
      if (errorCode(error) !== 'ENOENT') return failedTitle(folder, messageOf(error));
    }
    const failure = this.#failures.get(folder);
    if (failure?.modifiedMs === modifiedMs) return failedTitle(folder, failure.message);
    const known = modifiedMs === null ? null : await this.#titles.find(folder, modifiedMs);
    if (known === null) return titleOfFolder(folder);
    const { modifiedMs: _modifiedMs, ...title } = known;
    return { ...title, isDescribed: true, error: null, asks: await this.#knownAsks(folder) };
  }
}

function lastRunOf({ id, status, notFinite, best, startedAt, endedAt }: RunRow): LastRun {
  return { id, status, notFinite, best, startedAt, endedAt };
}

function titleOfFolder(folder: string): Title {
  return { name: basename(folder), description: '', task: '', isDescribed: false, error: null, asks: [] };
}

function failedTitle(folder: string, message: string): Title {
  return { ...titleOfFolder(folder), isDescribed: true, error: message };
}

/** Options of every run, then the hyperparameters with the paths that they have in the configuration. */
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
  return isDirectlyIn(folder, examplesFolder());
}

async function exampleFolders(): Promise<string[]> {
  const names = await readdir(examplesFolder(), { withFileTypes: true });
  return names
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(examplesFolder(), name))
    .sort();
}

/** @throws FileError when the folder does not exist or cannot be read */
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

const fileSchema = z.record(z.string(), z.iso.datetime());

/** When the user removed projects from the list, by folder. A run that begins later brings its project back. */
async function readForgotten(): Promise<Readonly<Record<string, string>>> {
  const path = homePaths().forgottenProjects;
  try {
    return fileSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return {};
    if (errorCode(error) !== null) throw explainFileError(error, path, 'read');
    throw new Error(`${path} is damaged: it must be times by folder in JSON. Correct or remove it.`, { cause: error });
  }
}

async function noteForgotten(folder: string, time: string | null): Promise<void> {
  const { [folder]: before, ...others } = await readForgotten();
  if (before === undefined && time === null) return;
  const next = time === null ? others : { ...others, [folder]: time };
  await writeFileAtomic(homePaths().forgottenProjects, `${JSON.stringify(next, null, 2)}\n`);
}
