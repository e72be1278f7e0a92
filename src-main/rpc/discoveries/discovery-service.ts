import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { lookAtLock } from '../../../core/node/file-lock.ts';
import type {
  Answers,
  CandidateLooks,
  DiscoverySummary,
  DiscoveryView,
  PoolMapView,
  SearchRequest,
} from '../../../core/protocol/pages/discovery-views.ts';
import type { HubApi } from '../../../core/protocol/pages/hub-methods.ts';
import type { PageApi } from '../../../core/protocol/pages/rpc.ts';
import type { Pool } from '../../../core/protocol/run/pool-task.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { newSearch, SearchWork } from '../../discovery/open-search.ts';
import { foldersIn } from '../../campaigns/locks.ts';
import { OwnCampaigns } from '../../campaigns/own-campaigns.ts';
import { Drawings } from '../../discovery/drawings.ts';
import { makeMap, readMap } from '../../discovery/map-pool.ts';
import { labelOf } from '../../discovery/oracles.ts';
import { parseAnswers, questionCsv } from '../../discovery/person.ts';
import { searchPaths } from '../../discovery/search-folder.ts';
import { homePaths } from '../../store/home.ts';
import type { TrainingWork } from '../../hub/training-work.ts';
import type { Projects } from '../projects/projects.ts';
import { lookAt, type SearchNow, summarize, viewMap, viewSearch, waitingQuestion } from './discovery-view.ts';
import { folderOf, KeptPools, type KeptSearch, readKept } from './kept-search.ts';
import { readRound } from './round-prediction.ts';

type DiscoveryListener = Pick<PageApi, 'discoveriesChanged' | 'discoveryChanged'>;

/** The searches in Tutti's home, and those that this process works on. */
export class DiscoveryService {
  readonly #projects: Projects;
  readonly #pools = new KeptPools();
  readonly #own: OwnCampaigns;
  /** Why searches of this process could not go on. */
  readonly #failures = new Map<string, string>();
  readonly #drawings = new Drawings();
  /** Maps under way, by folder. */
  readonly #maps = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();
  readonly #listeners = new Set<DiscoveryListener>();

  /** @param training counts the searches that this process works on */
  constructor(projects: Projects, training: TrainingWork) {
    this.#projects = projects;
    this.#own = new OwnCampaigns(training, (id) => this.#tell(id));
  }

  /** The methods of pages that concern all searches alike. */
  methods() {
    return {
      discoveries: () => this.#list(),
      discovery: (id) => this.#view(id),
      discoveryRound: async (id, round) => readRound(await readKept(folderOf(id)), round),
      discoveryMap: (id, isToBeMade) => this.#map(id, isToBeMade),
      discoveryCandidates: (id, indices) => this.#candidates(id, indices),
      createDiscovery: (request) => this.#create(request),
      resumeDiscovery: async (id) => void (await this.#goOn(id, new Map())),
      stopDiscovery: (id) => this.#stop(id),
      answerDiscovery: (id, answers) => this.#answer(id, answers),
      discoveryQuestion: (id) => this.#question(id),
    } satisfies Partial<HubApi>;
  }

  /** Calls the listener after each change. @returns a function that unsubscribes */
  subscribe(listener: DiscoveryListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends the rounds of this process at once. They are trained again when their searches go on. */
  async close(): Promise<void> {
    this.#listeners.clear();
    this.#closing.abort();
    await this.#own.close();
    await Promise.allSettled([...this.#maps.values(), this.#drawings.close()]);
  }

  async #list(): Promise<DiscoverySummary[]> {
    const all = await foldersIn(homePaths().discoveries);
    const folders = all.filter((folder) => existsSync(searchPaths(folder).search));
    const found = await Promise.all(
      folders.map(async (folder) => summarize(await readKept(folder), this.#now(folder))),
    );
    return found.sort((a, b) => b.createdAt.localeCompare(a.createdAt));
  }

  async #view(id: string): Promise<DiscoveryView> {
    const folder = folderOf(id);
    const kept = await readKept(folder);
    return viewSearch(kept, await this.#pools.read(folder), this.#now(folder));
  }

  #now(folder: string): SearchNow {
    const id = basename(folder);
    const isHere = this.#own.has(id);
    const isRunning = isHere || lookAtLock(searchPaths(folder).lock).kind === 'held';
    return { isHere, isRunning, failure: isRunning ? null : (this.#failures.get(id) ?? null) };
  }

  async #create(request: SearchRequest): Promise<{ id: string }> {
    const { projectFolder, overrides, name, ...choices } = request;
    const project = await this.#projects.describe(projectFolder);
    const place = { overrides: [overrides], out: undefined };
    const folder = await newSearch(projectFolder, project, { ...choices, name: name ?? project.name }, place);
    const id = basename(folder);
    // Reading the pool may take minutes. If that fails, the page of the search says so.
    void this.#goOn(id, new Map());
    return { id };
  }

  /** Begins to work on a search. @param labels to add first @returns how many are new, once it is open */
  #goOn(id: string, labels: ReadonlyMap<number, number>): Promise<number> {
    const folder = folderOf(id);
    if (this.#own.has(id)) throw new Error('This search runs already. Stop it first, or wait for its next question.');
    this.#failures.delete(id);
    const opened = Promise.withResolvers<number>();
    // Not everybody waits for the search to open, and the same reason is among the failures.
    opened.promise.catch(() => undefined);
    const work = new SearchWork(folder, {
      tell: () => this.#tell(id),
      currentSource: false,
      begin: async (session) => opened.resolve(await session.addLabels(labels)),
    });
    const ended = this.#own.begin(id, work, (error) => {
      this.#failures.set(id, messageOf(error));
      opened.reject(error);
    });
    void ended.then(() => opened.reject(new Error('This search was stopped before it was open.')));
    return opened.promise;
  }

  async #answer(id: string, answers: Answers): Promise<{ added: number }> {
    const known = await this.#pools.read(folderOf(id));
    if (known === null) throw new Error('This search has not read its pool yet. Wait for its first question.');
    return { added: await this.#goOn(id, labelsOf(answers, known.pool)) };
  }

  async #stop(id: string): Promise<void> {
    if (this.#own.has(id)) return this.#own.stop(id);
    if (lookAtLock(searchPaths(folderOf(id)).lock).kind !== 'held') return;
    throw new Error('Another process works on this search. Stop it there, with Ctrl-C in its terminal.');
  }

  async #map(id: string, isToBeMade: boolean): Promise<PoolMapView | null> {
    const kept = await readKept(folderOf(id));
    const known = await readMap(kept.folder);
    if (known !== null) return viewMap(kept, known);
    const making = this.#maps.get(kept.folder) ?? (isToBeMade ? this.#makeMap(kept) : null);
    if (making === null) return null;
    await making;
    return this.#map(id, false);
  }

  /** Several pages may wait for the same map. */
  #makeMap({ folder, search }: KeptSearch): Promise<void> {
    const making = makeMap(folder, search, this.#closing.signal).finally(() => this.#maps.delete(folder));
    this.#maps.set(folder, making);
    return making;
  }

  async #candidates(id: string, indices: readonly number[]): Promise<CandidateLooks> {
    const known = await this.#pools.read(folderOf(id));
    if (known === null) throw new Error('This search has not read its pool yet. Wait for its first round.');
    return lookAt(known.pool, indices, this.#drawings);
  }

  async #question(id: string): Promise<string> {
    const kept = await readKept(folderOf(id));
    const question = waitingQuestion(kept);
    const known = await this.#pools.read(kept.folder);
    if (question === null || known === null) {
      throw new Error('This search asks for no labels at the moment. Read it again.');
    }
    return questionCsv(known.pool, question);
  }

  #tell(id: string): void {
    for (const listener of this.#listeners) {
      listener.discoveriesChanged();
      listener.discoveryChanged(id);
    }
  }
}

function labelsOf(answers: Answers, pool: Pool): Map<number, number> {
  if ('csv' in answers) return parseAnswers(answers.csv, answers.file, pool);
  return new Map(answers.labels.map(({ index, label }) => [index, readLabel(index, label, pool)]));
}

function readLabel(index: number, label: string, pool: Pool): number {
  if (index >= pool.samples) throw new Error(`${index} is no candidate: the pool has 0 to ${pool.samples - 1}.`);
  try {
    return labelOf(label.trim(), pool);
  } catch (error) {
    throw new Error(`Candidate ${index}: ${messageOf(error)}. Correct the label.`, { cause: error });
  }
}
