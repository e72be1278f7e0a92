import { readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { tutti } from '../../core/text/program.ts';
import { writeFileAtomic } from '../../core/node/atomic-file.ts';
import { runIdSchema } from '../../core/protocol/run/record.ts';
import type { HubApi } from '../../core/protocol/pages/hub-methods.ts';
import type { PageApi } from '../../core/protocol/pages/rpc.ts';
import { maximumJournalBytes, type StudySummary } from '../../core/protocol/pages/study-views.ts';
import { toJson } from '../../core/protocol/wire/numbers.ts';
import { checkAssignment, orderSpace } from '../../core/studies/space/space.ts';
import { formatBytes } from '../../core/text/numbers.ts';
import { decodeText } from '../../core/text/text-encoding.ts';
import { OwnCampaigns } from '../campaigns/own-campaigns.ts';
import type { Hub } from '../hub/hub.ts';
import type { TrainingWork } from '../hub/training-work.ts';
import { homePaths, tuttiHome } from '../store/home.ts';
import { type FolderWatch, watchFolder } from '../store/watch-folder.ts';
import { createStudy, driveStudy, listStudies, viewStudy } from '../studies/studies.ts';
import { importJournal, toJournal } from '../studies/journal.ts';
import { makeEnsemble } from '../studies/study-ensemble.ts';
import { StudyStore } from '../studies/study-store.ts';
import { studyPaths } from '../studies/study-folder.ts';
import { hasWorkers } from '../campaigns/locks.ts';
import type { Projects } from './projects/projects.ts';
import type { WrittenExport } from './runs/exports.ts';
import type { SentSamples, Uploads } from './runs/uploads.ts';

/** Changes of the index within this time make one update of the list. */
const settleMs = 300;

/** The studies, and those that this process works on. */
export class StudyService {
  readonly #hub: Hub;
  readonly #projects: Projects;
  readonly #onError: (error: unknown) => void;
  readonly #own: OwnCampaigns;
  readonly #listeners = new Set<PageApi['studiesChanged']>();
  readonly #watcher: FolderWatch;
  #settling: NodeJS.Timeout | null = null;
  #told = new Map<string, string>();

  /** @param training counts the studies that this process works on */
  constructor(hub: Hub, projects: Projects, training: TrainingWork, onError: (error: unknown) => void) {
    this.#hub = hub;
    this.#projects = projects;
    this.#onError = onError;
    this.#own = new OwnCampaigns(training, () => this.#indexChanged());
    const index = basename(homePaths().index);
    this.#watcher = watchFolder(tuttiHome(), {
      changed: (file) => {
        if (file === null || file.startsWith(index)) this.#indexChanged();
      },
      failed: onError,
      // The list of runs watches the same folder, and says so.
      noticed: () => undefined,
    });
  }

  /** The methods of pages that concern all studies alike. */
  methods(
    linked: (writing: Promise<WrittenExport>) => ReturnType<HubApi['exportStudy']>,
    uploads: Pick<Uploads, 'take'>,
  ) {
    return {
      studies: () => this.#list(),
      study: async (id) => viewStudy(await this.open(id), this.isHere(id)),
      createStudy: async (request) => {
        const project = await this.#projects.describe(request.projectFolder);
        const { study } = await createStudy(this.#hub, request, project);
        await this.#resume(study.id);
        return { id: study.id };
      },
      resumeStudy: (id) => this.#resume(id),
      stopStudy: async (id) => (await this.open(id)).append([{ type: 'stop' }]),
      addTrials: (id, count) => this.#addTrials(id, count),
      enqueueTrial: async (id, values) => {
        const store = await this.open(id);
        checkAssignment(orderSpace(store.study.space), values);
        await store.append([{ type: 'enqueued', values }]);
      },
      ensembleFromStudy: async (id, request) => {
        const { record } = await makeEnsemble(this.#hub, await this.open(id), request);
        return { id: record.id };
      },
      importStudy: async ({ upload, ...request }) => {
        const journal = await readJournalFile(await uploads.take(upload));
        const project = await this.#projects.describe(request.projectFolder);
        return { id: (await importJournal(this.#hub, { ...request, journal }, project)).study.id };
      },
      exportStudy: (id) => linked(this.#export(id)),
      deleteStudy: (id) => this.#delete(id),
    } satisfies Partial<HubApi>;
  }

  /** @throws Error if there is no such study */
  open(id: string): Promise<StudyStore> {
    // It becomes part of a path.
    return StudyStore.open(join(homePaths().studies, runIdSchema.parse(id)));
  }

  isHere(id: string): boolean {
    return this.#own.has(id);
  }

  /** Calls the listener after each change of the list. @returns a function that unsubscribes */
  subscribe(listener: PageApi['studiesChanged']): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends the trials of this process at once. They continue from their states when their study does. */
  async close(): Promise<void> {
    this.#watcher.close();
    if (this.#settling !== null) clearTimeout(this.#settling);
    this.#listeners.clear();
    await this.#own.close();
  }

  #list(): Promise<StudySummary[]> {
    return listStudies(this.#hub, (id) => this.isHere(id));
  }

  async #resume(id: string): Promise<void> {
    if (this.isHere(id)) return;
    const store = await this.open(id);
    const project = await this.#projects.describe(store.study.project.folder);
    const driver = await driveStudy(this.#hub, store, project);
    if (this.isHere(id)) return;
    void this.#own.begin(id, driver, this.#onError);
  }

  async #addTrials(id: string, count: number): Promise<void> {
    const store = await this.open(id);
    await store.decide(({ wanted }) => ({ lines: [{ type: 'trials', count: wanted + count }], value: undefined }));
  }

  async #export(id: string): Promise<WrittenExport> {
    const fileName = `${runIdSchema.parse(id)}.log`;
    const path = join(homePaths().exports, fileName);
    await writeFileAtomic(path, toJournal(await this.open(id)));
    return { path, fileName, bytes: (await stat(path)).size, warnings: [] };
  }

  async #delete(id: string): Promise<void> {
    const { folder } = await this.open(id);
    if (hasWorkers(folder)) throw new Error(`A process works on the study ${id}. Stop it before deleting it.`);
    // First what makes the folder a study, so that nobody finds half of one.
    await rm(studyPaths(folder).study);
    await rm(folder, { recursive: true, force: true });
    this.#indexChanged();
  }

  #indexChanged(): void {
    if (this.#listeners.size === 0) return;
    this.#settling ??= setTimeout(() => {
      this.#settling = null;
      this.#notify().catch(this.#onError);
    }, settleMs);
  }

  async #notify(): Promise<void> {
    const summaries = await this.#list();
    const now = new Map(summaries.map((summary) => [summary.id, toJson(summary)]));
    const changed = summaries.filter(({ id }) => now.get(id) !== this.#told.get(id));
    const removed = [...this.#told.keys()].filter((id) => !now.has(id));
    this.#told = now;
    if (changed.length + removed.length === 0) return;
    for (const listener of this.#listeners) listener({ changed, removed });
  }
}

/** The text of a journal, whose file is removed. */
async function readJournalFile({ folder, input }: SentSamples): Promise<string> {
  try {
    const { size } = await stat(input);
    if (size <= maximumJournalBytes) return decodeText(await readFile(input), 'The journal');
    throw new Error(
      `The journal has ${formatBytes(size)}; a page imports at most ${formatBytes(maximumJournalBytes)}. ` +
        `Import it from a terminal: ${tutti} search --import.`,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
