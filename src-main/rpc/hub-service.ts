import { tutti } from '../../core/text/program.ts';
import type { SampleFile, SamplePredictions } from '../../core/protocol/pages/new-samples.ts';
import type { ExportResult } from '../../core/protocol/pages/run-data.ts';
import type { HubApi } from '../../core/protocol/pages/hub-methods.ts';
import type { Health, PageApi, PageRole } from '../../core/protocol/pages/rpc.ts';
import type { RunRequest, StartedRun } from '../../core/protocol/pages/project-views.ts';
import { startDetached } from '../hub/detach.ts';
import type { Hub } from '../hub/hub.ts';
import { LiveRuns } from '../hub/live-runs.ts';
import { type HubParts, RunFeed } from '../hub/run-feed.ts';
import { TrainingWork } from '../hub/training-work.ts';
import { comparisonMethods } from './saved-comparisons.ts';
import { attemptCommands } from './projects/command-line.ts';
import { deleteCheckpoints, listCheckpoints, pinCheckpoints } from './runs/checkpoints.ts';
import { RemoteRuns } from '../attach/remote-runs.ts';
import { connectPage, type PageMethods, type PageWire } from './connection.ts';
import { Evaluations } from './runs/evaluations.ts';
import { writeExport, type WrittenExport } from './runs/exports.ts';
import { DiscoveryService } from './discoveries/discovery-service.ts';
import { exportReport } from '../report/write-report.ts';
import { HealthReport } from './health.ts';
import { listTrusted, openFolder, type OpenPath } from './projects/folders.ts';
import { withdrawTrust } from '../trust/project-trust.ts';
import { previewFork, readForkStart, startFork } from './runs/forks.ts';
import { importSent, openAnyPath } from './runs/imports.ts';
import { readLogs } from './runs/logs.ts';
import { PageWatches, watchSearch, watchStudy } from './page-watches.ts';
import { NewSamples } from './runs/new-samples.ts';
import { OwnSamples } from '../predictions/own-samples.ts';
import { Calibrations, readPostprocessing } from './runs/postprocessing.ts';
import { listPredictions, readPredictions } from './runs/predictions.ts';
import { previewResume, previewRun } from './projects/previews.ts';
import { NewProjects } from './new-projects.ts';
import { Projects } from './projects/projects.ts';
import { RunList } from './runs/run-list.ts';
import { StudyService } from './study-service.ts';
import { SweepService } from './runs/sweep-service.ts';
import { deleteRun, updateNotes, viewRun } from './runs/run-views.ts';
import { readSeries, readTrends } from './runs/series.ts';
import { Trash } from './runs/trash.ts';
import { diskMethods } from './runs/disk-service.ts';
import { QueueService } from './runs/queue-service.ts';
import type { SentSamples, Uploads } from './runs/uploads.ts';

export interface ServiceOptions {
  frontEnd: Health['frontEnd'];
  /** The link at which a page downloads an export; null if it saves the file directly. */
  exportLink: (fileName: string) => string | null;
  /** Makes and ends links for other browsers; null where there are none. */
  links: PageLinks | null;
  /** Shows a folder with Electron; null in a browser, where the system's command does. */
  openPath: OpenPath | null;
  /** Called for errors outside of calls. */
  onError: (error: unknown) => void;
}

/** What the hub keeps for one page until it leaves. */
interface OfPage {
  runs: PageWatches;
  studies: PageWatches;
  searches: PageWatches;
  uploads: Uploads;
  newProjects: NewProjects;
  exportLink: ServiceOptions['exportLink'];
}

/** The links that open pages in other browsers. */
export interface PageLinks {
  create: (role: PageRole) => string | Promise<string>;
  endWatchers: () => void;
}

/** The hub's service for pages: any number of pages at a time, in the browser or the desktop app. */
export class HubService {
  readonly #options: ServiceOptions;
  readonly #parts: HubParts;
  readonly #training = new TrainingWork();
  readonly #runs: RunList;
  readonly #projects: Projects;
  readonly #trash: Trash;
  readonly #health: HealthReport;
  readonly #evaluations: Evaluations;
  readonly #calibrations: Calibrations;
  readonly #newSamples: NewSamples;
  readonly #ownSamples = new OwnSamples();
  readonly #studies: StudyService;
  readonly #sweeps: SweepService;
  readonly #queue: QueueService;
  readonly #discoveries: DiscoveryService;
  readonly #remoteRuns: RemoteRuns;

  private constructor(hub: Hub, options: ServiceOptions) {
    this.#options = options;
    const live = new LiveRuns(hub, options.onError, this.#training);
    this.#parts = { hub, live, feed: new RunFeed(hub, live, options.onError) };
    this.#runs = new RunList(hub, options.onError);
    this.#remoteRuns = new RemoteRuns(hub.index, options.onError);
    this.#projects = new Projects(hub);
    this.#trash = new Trash(options.onError);
    this.#health = new HealthReport(hub, options.frontEnd);
    this.#evaluations = new Evaluations(hub);
    this.#calibrations = new Calibrations(hub);
    this.#newSamples = new NewSamples(hub);
    this.#sweeps = new SweepService({ hub, training: this.#training, onError: options.onError });
    this.#studies = new StudyService(hub, this.#projects, this.#training, options.onError);
    this.#discoveries = new DiscoveryService(this.#projects, this.#training);
    this.#queue = new QueueService({
      hub,
      projects: this.#projects,
      runs: this.#runs,
      start: (request) => this.#start(request),
      isBusy: () => live.size > 0 || this.#sweeps.size > 0,
      onError: options.onError,
    });
  }

  static async open(hub: Hub, options: ServiceOptions): Promise<HubService> {
    const service = new HubService(hub, options);
    await service.#trash.empty();
    return service;
  }

  /** The runs, sweeps, studies and searches that this process trains. */
  get training(): Pick<TrainingWork, 'count' | 'runs' | 'subscribe'> {
    return this.#training;
  }

  /** The runs that wait for this process to start them. */
  get queue(): Pick<QueueService, 'waiting' | 'subscribe'> {
    return this.#queue;
  }

  /** The parts that the desktop app needs for its menu, its notifications and quitting. */
  get runs(): Pick<RunList, 'page' | 'overview' | 'subscribe'> {
    return this.#runs;
  }

  get projects(): Pick<Projects, 'remembered' | 'subscribe'> {
    return this.#projects;
  }

  /**
   * Serves one page until the returned function is called. Its runs continue without it.
   * @param exportLink of this page, if it differs from that of the others
   */
  connect(wire: PageWire, role: PageRole, exportLink = this.#options.exportLink): () => void {
    const { onError } = this.#options;
    const runs = new PageWatches((id) =>
      this.#parts.feed.watch(id, (updates) => page.runUpdates(id, updates).catch(onError)),
    );
    const uploads = this.#newSamples.uploads();
    const tell: PageApi['inspecting'] = (progress) => void page.inspecting(progress).catch(onError);
    const newProjects = new NewProjects(uploads, this.#projects, tell);
    const studies = new PageWatches((id) =>
      watchStudy(this.#studies, id, (change) => void page.studyChanged(id, change).catch(onError), onError),
    );
    const searches = new PageWatches(async (id) =>
      watchSearch(this.#discoveries, id, () => void page.discoveryChanged(id).catch(onError), onError),
    );
    const api = this.#api({ runs, studies, searches, uploads, newProjects, exportLink }, role);
    const page: PageMethods = connectPage(wire, api, role);
    const unsubscribeStudies = this.#studies.subscribe((change) => void page.studiesChanged(change).catch(onError));
    const unsubscribe = this.#runs.subscribe((change) => void page.runsChanged(change).catch(onError));
    const unsubscribeQueue = this.#queue.subscribe(() => void page.queueChanged().catch(onError));
    const unsubscribeSearches = this.#discoveries.subscribe({
      discoveriesChanged: () => void page.discoveriesChanged().catch(onError),
      discoveryChanged: () => undefined,
    });
    return () => {
      unsubscribe();
      unsubscribeStudies();
      unsubscribeQueue();
      unsubscribeSearches();
      newProjects.stop();
      for (const watches of [runs, studies, searches]) watches.close().catch(onError);
      uploads.close().catch(onError);
      page.$close();
    };
  }

  /** Aborts the runs of this process and closes everything except the hub. */
  async close(): Promise<void> {
    // First, so that no waiting run starts once the others have ended.
    await this.#queue.close();
    await Promise.all([this.#studies.close(), this.#discoveries.close(), this.#sweeps.close()]);
    await Promise.all([this.#parts.live.close(), this.#remoteRuns.close()]);
    this.#evaluations.close();
    await Promise.all([this.#calibrations.close(), this.#newSamples.close(), this.#ownSamples.close()]);
    this.#parts.feed.close();
    this.#runs.close();
    await this.#trash.close();
  }

  #api(ofPage: OfPage, role: PageRole): HubApi {
    const { hub, live, feed } = this.#parts;
    return {
      ...sessionMethods(role, this.#options.links),
      ...this.#projectMethods(),
      ...ofPage.newProjects.methods(),
      health: () => this.#health.read(),
      openFolder: (name) => openFolder(name, this.#options.openPath),
      previewRun: (request) => previewRun(hub, this.#projects, request),
      startRun: (request) => this.#start(request),
      resumeSweep: (id) => this.#sweeps.resume(id),
      stopSweep: async (id) => this.#sweeps.stop(id),
      previewResume: (id, overrides, currentSource) => previewResume(hub, id, { overrides, currentSource }),
      resumeRun: (id, overrides, rank, currentSource) =>
        live.resume(id, overrides, { rank: rank ?? undefined, currentSource }),
      forkPoints: (id) => hub.forkPoints(id),
      forkStart: (id, point) => readForkStart(hub, id, point),
      previewFork: (id, request) => previewFork(hub, id, request),
      startFork: (id, request) => startFork(this.#parts, id, request),
      ...this.#listMethods(),
      run: (id) => viewRun(this.#parts, id),
      attemptCommands: (id) => attemptCommands(hub, this.#projects, id),
      series: (id, request) => readSeries(this.#parts, id, request),
      deviceLoads: async (id) => (await feed.open(id)).deviceLoads,
      logs: (id, request) => readLogs(this.#parts, id, request),
      control: (id, control) => live.control(id, control),
      abort: (id) => live.control(id, { action: 'abort' }),
      checkpoints: (id) => listCheckpoints(this.#parts, id),
      pinCheckpoints: (id, request) => pinCheckpoints(this.#parts, id, request),
      deleteCheckpoints: (id, { checkpoints }) => deleteCheckpoints(this.#parts, this.#trash, id, checkpoints),
      ...this.#predictionMethods(ofPage),
      ...this.#exchangeMethods(ofPage),
      ...this.#studyMethods(ofPage),
      ...this.#discoveryMethods(ofPage),
      ...comparisonMethods(this.#trash),
      watch: (id) => ofPage.runs.watch(id),
      unwatch: (id) => ofPage.runs.unwatch(id),
    };
  }

  #exchangeMethods(ofPage: OfPage) {
    return {
      attachRun: (run, home) => this.#remoteRuns.attach(run, home),
      detachRun: (id) => this.#remoteRuns.detach(id),
      importRun: (request) => importSent(this.#parts.hub, request, ofPage.uploads),
      exportRun: (id, request) => linked(ofPage, writeExport(this.#parts, id, request)),
      reportRun: (id) => linked(ofPage, exportReport(this.#parts, id)),
    } satisfies Partial<HubApi>;
  }

  #listMethods() {
    return {
      runs: (query) => this.#runs.page(query),
      runOverview: () => this.#runs.overview(),
      runGroups: (request) => this.#runs.groups(request),
      runFields: (query) => this.#runs.knownFields(query),
      ...this.#queue.methods(),
      ...diskMethods(this.#parts, this.#trash),
      trends: (ids) => readTrends(this.#parts, ids),
      updateRun: (id, changes) => updateNotes(this.#parts, id, changes),
      deleteRun: (id) => deleteRun(this.#parts, this.#trash, id),
      undoDelete: (deletion) => this.#trash.restore(deletion),
    } satisfies Partial<HubApi>;
  }

  #studyMethods(ofPage: OfPage) {
    return {
      ...this.#studies.methods((writing) => linked(ofPage, writing), ofPage.uploads),
      watchStudy: (id) => ofPage.studies.watch(id),
      unwatchStudy: (id) => ofPage.studies.unwatch(id),
    } satisfies Partial<HubApi>;
  }

  #discoveryMethods({ searches }: OfPage) {
    return {
      ...this.#discoveries.methods(),
      watchDiscovery: (id) => searches.watch(id),
      unwatchDiscovery: (id) => searches.unwatch(id),
    } satisfies Partial<HubApi>;
  }

  #predictionMethods(ofPage: OfPage) {
    const { uploads } = ofPage;
    return {
      evaluateSet: (id, request) => this.#evaluations.evaluate(id, request),
      predictions: (id, request) => readPredictions(this.#parts, id, request),
      predictionNames: (id) => listPredictions(this.#parts, id),
      sampleInputs: async (id, request) => this.#ownSamples.read((await this.#parts.hub.find(id)).folder, request),
      sampleForm: (id) => this.#newSamples.form(id),
      openUpload: (request) => uploads.open(request),
      sendPart: (upload, part) => uploads.append(upload, part),
      dropUpload: (upload) => uploads.drop(upload),
      predictSamples: (id, samples) =>
        this.#predict(ofPage, id, 'upload' in samples ? uploads.take(samples.upload) : samples),
      calibrate: (id, request) => this.#calibrations.calibrate(id, request),
      postprocessing: (id) => readPostprocessing(this.#parts, id),
    } satisfies Partial<HubApi>;
  }

  #projectMethods() {
    return {
      projects: () => this.#projects.list(),
      projectCard: (folder) => this.#projects.card(folder),
      projectPicture: (folder) => this.#projects.picture(folder),
      openPath: (path) => openAnyPath(this.#parts.hub, this.#projects, path),
      forgetProject: (folder) => this.#projects.forget(folder),
      trustProject: (folder) => this.#projects.trust(folder),
      allowProject: (folder, asks) => this.#projects.allow(folder, asks),
      trustedFolders: () => listTrusted(),
      withdrawTrust: (folder) => withdrawTrust(folder),
      describeProject: (folder) => this.#projects.describeOptions(folder),
    } satisfies Partial<HubApi>;
  }

  async #start({ projectFolder, overrides, name, out, detach, repeat }: RunRequest): Promise<StartedRun> {
    const { hub, live } = this.#parts;
    const project = await this.#projects.describe(projectFolder);
    const place = { name: name ?? undefined, folder: out ?? undefined };
    const request = { projectFolder, overrides: [overrides], ...place };
    if (repeat !== undefined) return this.#sweeps.start(request, project, repeat);
    const planned = await hub.planRun(request, project);
    if (detach) await startDetached({ kind: 'start', folder: planned.folder, planned });
    else await live.start(planned);
    return { id: planned.id, sweep: null };
  }

  async #predict(ofPage: OfPage, id: string, samples: SampleFile | Promise<SentSamples>): Promise<SamplePredictions> {
    const { csv, ...answer } = await this.#newSamples.predict(id, await samples);
    return { ...answer, csv: csv instanceof Uint8Array ? csv : await linked(ofPage, Promise.resolve(csv)) };
  }
}

async function linked({ exportLink }: OfPage, writing: Promise<WrittenExport>): Promise<ExportResult> {
  const { fileName, ...written } = await writing;
  return { ...written, link: exportLink(fileName) };
}

function sessionMethods(role: PageRole, links: PageLinks | null) {
  const create = async (linkRole: PageRole): Promise<{ link: string }> => {
    if (links !== null) return { link: await links.create(linkRole) };
    throw new Error(`This Tutti serves no links. Start it with \`${tutti} dashboard --browser\` to have some.`);
  };
  return {
    session: async () => ({ role, canInvite: role === 'owner' && links !== null, program: tutti }),
    newLink: () => create('owner'),
    newWatchLink: () => create('watcher'),
    endWatchers: async () => links?.endWatchers(),
  } satisfies Partial<HubApi>;
}
