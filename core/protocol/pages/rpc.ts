import type { Postprocessing } from '../../postprocessing/schema.ts';
import { z } from 'zod';
import type { DeviceLoadColumns, deviceSchema } from '../machine/devices.ts';
import type {
  CalibrationRequest,
  CalibrationResult,
  CheckpointKey,
  SetEvaluationResult,
  SetRequest,
} from '../run/checkpoint-tasks.ts';
import type { controlSchema } from '../run/messages.ts';
import type { ForkPoint } from '../history/history.ts';
import type { ComparisonApi } from './saved-comparison.ts';
import type { SampleForm, SamplePredictions, SamplesToPredict, UploadRequest } from './new-samples.ts';
import type { InputsRequest, SampleInputs } from '../../ensemble/sample-inputs.ts';
import type {
  DescribedProject,
  Opened,
  ProjectCard,
  ProjectPicture,
  RunPreview,
  RunRequest,
  StartedRun,
  TrustedFolder,
} from './project-views.ts';
import type {
  CheckpointList,
  ExportRequest,
  ExportResult,
  ImportedRunView,
  ImportRequest,
  PredictionData,
  SeriesData,
  SeriesRequest,
} from './run-data.ts';
import type { RunUpdate } from './run-updates.ts';
import type { DiskApi } from './runs/disk-use.ts';
import type { QueueApi } from './runs/run-queue.ts';
import type { GroupRequest, KnownField, RunGroups } from './runs/run-groups.ts';
import type { RunListChange, RunOverview, RunPage, RunQuery } from './run-list.ts';
import type { StudyApi, StudyPageApi } from './study-views.ts';
import type { AttemptCommand, ForkRequest, ForkStart, LogLine, RunNotes, RunView } from './run-views.ts';
import type { DiscoveryApi, DiscoveryPageApi } from './discovery-views.ts';
import { FrameDecoder } from '../wire/frame-decoder.ts';
import { encodeFrame } from '../wire/frame-encoder.ts';
import { FrameError, headBytes } from '../wire/frames.ts';
import { frameOfValue, valueOfFrame } from '../wire/value-frame.ts';

/**
 * The contract between pages and the hub, over Electron's messages or a WebSocket. The hub checks arguments with the
 * schemas of this folder when they arrive. Typed arrays travel in binary form (`rpc-codec.ts`): NaN is kept, and
 * nothing large becomes JSON.
 */

/** The calls of pages to the hub. Every method rejects with an error whose message is meant for the user. */
export interface HubApi extends ComparisonApi, DiscoveryApi, StudyApi, QueueApi, DiskApi {
  /** What this page may do. */
  session(): Promise<PageSession>;
  /**
   * A link that opens these pages in another browser, as the owner. It works once. In the desktop app, the first one
   * starts a server on this machine.
   */
  newLink(): Promise<{ link: string }>;
  /**
   * A link that lets another browser watch runs, and nothing else. It works once. In the desktop app, the first one
   * starts a server on this machine.
   */
  newWatchLink(): Promise<{ link: string }>;
  /** Ends all sessions that began with such a link, and makes the unopened links void. */
  endWatchers(): Promise<void>;

  /** Versions, home, devices, backends, and what is missing, with remedies. */
  health(): Promise<Health>;
  /** Shows a folder in the file manager of the machine that Tutti runs on. @throws if there is none */
  openFolder(name: FolderName): Promise<void>;

  /**
   * Examples first, then projects opened lately, the most recent first, then others that were trained, the last used
   * first. Returns at once: projects may not be described yet.
   */
  projects(): Promise<ProjectCard[]>;
  /** The card of a described project. A trusted project's code runs for it, which takes about a second. */
  projectCard(folder: string): Promise<ProjectCard>;
  /** The newest figure of a trusted project: of its last runs, else of its folder `outputs`; null if there is none. */
  projectPicture(folder: string): Promise<ProjectPicture | null>;
  /**
   * Opens what a path leads to: a project's folder, which is remembered and of which nothing runs unless it is trusted;
   * a run's folder; or an exported run, which is imported.
   * @throws if it leads to none of them
   */
  openPath(path: string): Promise<Opened>;
  /** Removes a project from the list, until it is opened again or a run of it begins. */
  forgetProject(folder: string): Promise<void>;
  /** Trusts a project's folder, and describes the project. */
  trustProject(folder: string): Promise<ProjectCard>;
  /**
   * Allows a trusted project these phrases of its card: what the user has read.
   * @throws if it asks for something else now
   */
  allowProject(folder: string, asks: string[]): Promise<ProjectCard>;
  trustedFolders(): Promise<TrustedFolder[]>;
  /** From now on nothing of the projects in the folder runs. Runs that train continue. */
  /** Fails with the reason where the folder stays trusted. */
  withdrawTrust(folder: string): Promise<void>;
  /** @throws if the project is not trusted */
  describeProject(folder: string): Promise<DescribedProject>;
  /** Checks a configuration without starting it. Lists the problems of a wrong one instead of throwing. */
  previewRun(request: RunRequest): Promise<RunPreview>;
  /** Starts a run, or with `repeat` the first run of a sweep, whose other runs follow. */
  startRun(request: RunRequest): Promise<StartedRun>;
  /** Trains the runs of a sweep that have not finished, one after the other. */
  resumeSweep(id: string): Promise<void>;
  /**
   * Stops a sweep that this process trains: its run jointly, and begins no other.
   * @throws if another process trains it
   */
  stopSweep(id: string): Promise<void>;
  /** Checks a resume with some options changed, as `previewRun` does. */
  previewResume(id: string, overrides: RunRequest['overrides'], currentSource?: boolean): Promise<RunPreview>;
  /**
   * @param rank only this missing member, up to where the others ended; null: all ranks that are not missing
   * @param currentSource whether it trains with the project's present code, although that has changed
   */
  resumeRun(
    id: string,
    overrides: RunRequest['overrides'],
    rank: number | null,
    currentSource?: boolean,
  ): Promise<void>;

  /** The points of a run at which a fork can begin, by step. */
  forkPoints(id: string): Promise<ForkPoint[]>;
  /** What a fork of a point begins with. @throws if the run has no such point */
  forkStart(id: string, point: string): Promise<ForkStart>;
  /** Checks a fork, as `previewRun` does a new run. @throws if the run has no such point */
  previewFork(id: string, request: ForkRequest): Promise<RunPreview>;
  /** Starts a new run from a point of a run, which stays as it is. @returns the new run's id */
  startFork(id: string, request: ForkRequest): Promise<{ id: string }>;

  /** A part of the list of runs, filtered and sorted. Without a limit: at most `maximumRunRows`. */
  runs(query: RunQuery): Promise<RunPage>;
  runOverview(): Promise<RunOverview>;
  /** The runs of a query in groups, with means over those that have finished. */
  runGroups(request: GroupRequest): Promise<RunGroups>;
  /**
   * The course of the monitored metric of runs, by their ids: at most 48 values over its steps, none for a run without
   * one. Runs that one answer has no time for are left out.
   */
  trends(ids: string[]): Promise<Record<string, Float64Array>>;
  /** The fields that lists of these runs can show, of the newest 1,000 of them. */
  runFields(query: RunQuery): Promise<KnownField[]>;
  updateRun(id: string, changes: RunNotes): Promise<void>;
  /** Moves a run's folder to the trash. For 10 s `undoDelete` with the run's id restores it; then it is removed. */
  deleteRun(id: string): Promise<void>;
  /** @param deletion a run's id, or the return value of `deleteCheckpoints` or `deleteComparison` */
  undoDelete(deletion: string): Promise<void>;

  /** All data of a run except its metrics. */
  run(id: string): Promise<RunView>;
  /** The command behind each attempt of a run that has one. @throws if its project cannot be described */
  attemptCommands(id: string): Promise<AttemptCommand[]>;
  /**
   * The points of some metrics, or of all if `names` is empty; each metric has at most `maximumPoints`, which include
   * its extremes.
   */
  series(id: string, request: SeriesRequest): Promise<SeriesData>;
  /** The loads of the run's devices while it trained. */
  deviceLoads(id: string): Promise<DeviceLoadColumns[]>;
  /** The newest `limit` lines of the ranks' logs, merged by time. */
  logs(id: string, request: { ranks: number[]; limit: number }): Promise<LogLine[]>;
  control(id: string, control: z.output<typeof controlSchema>): Promise<void>;
  abort(id: string): Promise<void>;

  checkpoints(id: string): Promise<CheckpointList>;
  /** Pins checkpoints, or removes their pins. */
  pinCheckpoints(id: string, request: { checkpoints: CheckpointKey[]; isPinned: boolean }): Promise<void>;
  /**
   * Moves checkpoints to the trash, as `deleteRun` does.
   * @throws for a checkpoint that the run may replace while it trains
   */
  deleteCheckpoints(id: string, request: { checkpoints: CheckpointKey[] }): Promise<{ deletion: string }>;
  /** Evaluates any choice of checkpoints as one ensemble, in a worker. */
  evaluateSet(id: string, request: SetRequest): Promise<SetEvaluationResult>;
  /** The members' predictions on a split, kept under a name (`best`, `epoch-00012`, `final`, ...). */
  predictions(id: string, request: { split: 'validation' | 'test'; name: string }): Promise<PredictionData | null>;
  predictionNames(id: string): Promise<{ split: 'validation' | 'test'; name: string; epoch: number }[]>;
  /**
   * Inputs of samples that the run was evaluated on, from its project's data.
   * @throws if these have changed since the run trained
   */
  sampleInputs(id: string, request: InputsRequest): Promise<SampleInputs>;
  /** What new samples for the ensemble of a run have. @throws if the members have no checkpoints of one name */
  sampleForm(id: string): Promise<SampleForm>;
  /** Announces a file that is too large for one call. @returns the name under which its parts follow */
  openUpload(request: UploadRequest): Promise<string>;
  /** Sends the next part of a file. */
  sendPart(upload: string, part: Uint8Array): Promise<void>;
  /** Removes what was sent of a file. The hub does so too when the connection ends. */
  dropUpload(upload: string): Promise<void>;
  /** Predicts new samples with the ensemble of a run, in a worker. @throws if the samples do not fit */
  predictSamples(id: string, samples: SamplesToPredict): Promise<SamplePredictions>;
  /**
   * Fits calibration, sets or intervals and thresholds for a set of a run, as `tutti calibrate` does, and keeps them
   * with the run.
   */
  calibrate(id: string, request: CalibrationRequest): Promise<CalibrationResult>;
  /** What `tutti calibrate` fitted for the sets of a run. */
  postprocessing(id: string): Promise<Postprocessing[]>;
  /**
   * Follows a run on another machine through the user's ssh, which asks for nothing, as `tutti attach` does: it appears
   * among the runs, live and in reach, until it ends, `detachRun` is called, or this process ends.
   * @param run `user@login:run`, or the id of one that was followed before
   * @param home Tutti's home there; null: the usual one
   * @throws with what ssh said and the remedy
   */
  attachRun(run: string, home: string | null): Promise<{ id: string }>;
  /**
   * Follows a run on another machine no longer. It trains on, and its copy stays.
   * @throws if another process follows it
   */
  detachRun(id: string): Promise<void>;
  /** Makes an exported run, which the page has sent, a run of this home. */
  importRun(request: ImportRequest): Promise<ImportedRunView>;
  /** Writes an export in Tutti's home. Returns its path, and in the browser a link to download it. */
  exportRun(id: string, request: ExportRequest): Promise<ExportResult>;
  /** Writes the report of a run in Tutti's home, as `tutti report` does. */
  reportRun(id: string): Promise<ExportResult>;

  /** Calls `runUpdates` for this run from now on, until `unwatch` or the end of the connection. */
  watch(id: string): Promise<void>;
  unwatch(id: string): Promise<void>;
}

/** The calls of the hub to pages. */
export interface PageApi extends DiscoveryPageApi, StudyPageApi {
  /** The queue of waiting runs has changed. */
  queueChanged(): void;
  /** The list of runs has changed. */
  runsChanged(change: RunListChange): void;
  /**
   * Updates of a watched run, in order, about ten times a second. A `record` with one more attempt means that the run
   * was resumed: points beyond its resume step are gone, so the page must read `series` again.
   */
  runUpdates(id: string, updates: RunUpdate[]): void;
}

/** `owner`: the user who started Tutti. `watcher`: somebody with a link that only shows runs. */
export type PageRole = 'owner' | 'watcher';

export interface PageSession {
  role: PageRole;
  /** Whether this page can make links for watchers. */
  canInvite: boolean;
  /** How a user calls the command line of this Tutti, `tutti` or with `npx` before it. */
  program: string;
}

export const folderNameSchema = z.enum(['home', 'runs', 'cache', 'exports']);
export type FolderName = z.output<typeof folderNameSchema>;

export interface Health {
  versions: Record<string, string>;
  folders: { name: FolderName; holds: string; path: string }[];
  /** Whether a file manager can be shown. */
  canOpenFolders: boolean;
  freeBytes: number;
  devices: z.output<typeof deviceSchema>[];
  checks: { name: string; verdict: 'ok' | 'absent' | 'warn' | 'fail'; detail: string; remedy: string | null }[];
  frontEnd: 'desktop' | 'browser';
}

/** Encodes calls and answers between page and hub: each is the bytes of exactly one message frame. */

/** @throws TypeError for a value that would arrive changed: a Map, a Date, an array of another element type */
export function encodeRpc(value: unknown): Uint8Array<ArrayBuffer> {
  return join(encodeFrame(frameOfValue(value)));
}

/** @throws FrameError if the bytes are not one whole frame, or hold a value that {@link encodeRpc} never writes */
export function decodeRpc(bytes: Uint8Array): unknown {
  // Checked before memory is allocated for the announced size.
  if (bytes.length < headBytes || bytes.length !== announcedBytes(bytes)) {
    throw new FrameError(`A message of ${bytes.length} bytes is not one whole frame.`);
  }
  const [frame] = new FrameDecoder().push(bytes);
  return valueOfFrame(frame);
}

function announcedBytes(bytes: Uint8Array): number {
  const head = new DataView(bytes.buffer, bytes.byteOffset, headBytes);
  return headBytes + head.getUint32(0, true) + head.getUint32(4, true);
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((bytes, part) => bytes + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
