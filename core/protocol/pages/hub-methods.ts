import { z } from 'zod';
import { inputsRequestSchema, type SampleInputs } from '../../ensemble/sample-inputs.ts';
import type { Postprocessing } from '../../postprocessing/schema.ts';
import { assignmentSchema } from '../../studies/trial.ts';
import type { ForkPoint } from '../history/history.ts';
import type { DeviceLoadColumns } from '../machine/devices.ts';
import {
  type CalibrationResult,
  calibrationRequestSchema,
  checkpointKeySchema,
  type SetEvaluationResult,
  setRequestSchema,
} from '../run/checkpoint-tasks.ts';
import { controlSchema } from '../run/messages.ts';
import { studyRequestSchema } from '../studies/study.ts';
import {
  answersSchema,
  type CandidateLooks,
  type DiscoverySummary,
  type DiscoveryView,
  type PoolMapView,
  type RoundPrediction,
  searchRequestSchema,
} from './discovery-views.ts';
import { type Inspected, inspectionSchema, newProjectSchema } from './new-project.ts';
import {
  type SampleForm,
  type SamplePredictions,
  samplesToPredictSchema,
  uploadPartSchema,
  uploadRequestSchema,
} from './new-samples.ts';
import {
  type DescribedProject,
  type Opened,
  type ProjectCard,
  type ProjectPicture,
  type RunPreview,
  runRequestSchema,
  type StartedRun,
  type TrustedFolder,
} from './project-views.ts';
import { folderNameSchema, type Health, type PageSession } from './rpc.ts';
import {
  type CheckpointList,
  type ExportResult,
  exportRequestSchema,
  type ImportedRunView,
  importRequestSchema,
  type PredictionData,
  type SeriesData,
  seriesRequestSchema,
} from './run-data.ts';
import { type RunOverview, type RunPage, runQuerySchema } from './run-list.ts';
import {
  type AttemptCommand,
  forkPointNameSchema,
  forkRequestSchema,
  type ForkStart,
  type LogLine,
  runNotesSchema,
  type RunView,
} from './run-views.ts';
import { type Cleanable, cleanableSchema, type Cleaned, type DiskUse } from './runs/disk-use.ts';
import { groupRequestSchema, type KnownField, type RunGroups } from './runs/run-groups.ts';
import type { WaitingRun } from './runs/run-queue.ts';
import { type ComparisonList, comparisonContentSchema, type SavedComparison } from './saved-comparison.ts';
import { studyEnsembleSchema, studyImportSchema, type StudySummary, type StudyView } from './study-views.ts';

/** A method that pages may call. */
interface HubMethod<Arguments extends unknown[], Result> {
  /** `watch`: all pages may call it. `act`: only the owner's may, not those with a link for watchers. */
  permission: 'watch' | 'act';
  arguments: z.ZodType<Arguments>;
  /** Never there: it carries the type of what the method returns. */
  result?: Result;
}

type Schemas = [] | [z.ZodType, ...z.ZodType[]];

function methods(permission: HubMethod<never, never>['permission']) {
  return <S extends Schemas>(...schemas: S) => {
    // The compiler cannot follow a tuple of any length into zod.
    const values: z.ZodType = z.tuple(schemas as [z.ZodType]);
    const method = { permission, arguments: values as z.ZodType<z.output<z.ZodTuple<S, null>>> };
    return { returns: <Result>(): HubMethod<z.output<z.ZodTuple<S, null>>, Result> => method };
  };
}

/**
 * A method that watchers may call, because it shows runs: it starts, changes and writes nothing, runs no code of
 * projects, and reads no files but those of runs.
 */
const watch = methods('watch');
/** A method that only the owner may call. */
const act = methods('act');

const id = z.string().min(1);
const folder = z.string().min(1);
const overrides = runRequestSchema.shape.overrides;
const currentSource = z.boolean().optional();
const split = z.enum(['validation', 'test']);
const checkpoints = z.array(checkpointKeySchema).min(1);
/** It becomes part of a path. */
const comparison = z.uuid();
const upload = z.uuid();

/**
 * The methods that pages may call: who may, their arguments and their results. From this table derive the type of the
 * hub on both sides ({@link HubApi}), the check of arguments and permissions (`src-main/rpc/connection.ts`) and tests.
 * Every method rejects with an error whose message is meant for the user.
 */
export const hubMethods = {
  /** What this page may do. */
  session: watch().returns<PageSession>(),
  /**
   * A link that opens these pages in another browser, as the owner. It works once. In the desktop app, the first one
   * starts a server on this machine.
   */
  newLink: act().returns<{ link: string }>(),
  /** Like `newLink`, but the other browser may only watch runs. */
  newWatchLink: act().returns<{ link: string }>(),
  /** Ends all sessions that began with a link for watchers, and makes the unopened ones void. */
  endWatchers: act().returns<void>(),

  /** Versions, home, devices, backends, and what is missing, with remedies. */
  health: act().returns<Health>(),
  /** Shows a folder in the file manager of the machine that Tutti runs on. @throws if there is none */
  openFolder: act(folderNameSchema).returns<void>(),
  /** Measures the folders of all runs. */
  diskUse: act().returns<DiskUse>(),
  /**
   * Measures the ended runs that were never measured, which is quick if there are few.
   * @returns the size of all measured runs, in bytes, and the quota
   */
  measureNewRuns: act().returns<Pick<DiskUse, 'totalBytes' | 'quotaBytes'>>(),
  /** Sets the quota in bytes; null: none. */
  setDiskQuota: act(z.number().positive().nullable()).returns<void>(),
  /** What may go, the largest first: never anything of a run that trains, a pinned or a best checkpoint. */
  cleanable: act().returns<Cleanable[]>(),
  /** Moves these to the trash. */
  clean: act(z.array(cleanableSchema).min(1).max(1000)).returns<Cleaned>(),

  /**
   * Examples first, then projects opened lately, the most recent first, then others that were trained, the last used
   * first. Returns at once: projects may not be described yet.
   */
  projects: act().returns<ProjectCard[]>(),
  /** The card of a described project. A trusted project's code runs for it, which takes about a second. */
  projectCard: act(folder).returns<ProjectCard>(),
  /** The newest figure of a trusted project: of its last runs, else of its folder `outputs`; null if there is none. */
  projectPicture: act(folder).returns<ProjectPicture | null>(),
  /**
   * Opens what a path leads to: a project's folder, which is remembered and of which nothing runs unless it is trusted;
   * a run's folder; or an exported run, which is imported.
   * @throws if it leads to none of them
   */
  openPath: act(folder).returns<Opened>(),
  /** Removes a project from the list, until it is opened again or a run of it begins. */
  forgetProject: act(folder).returns<void>(),
  /** Trusts a project's folder, and describes the project. */
  trustProject: act(folder).returns<ProjectCard>(),
  /**
   * Allows a trusted project these phrases of its card: what the user has read.
   * @throws if it asks for something else now
   */
  allowProject: act(folder, z.array(z.string())).returns<ProjectCard>(),
  trustedFolders: act().returns<TrustedFolder[]>(),
  /**
   * From now on nothing of the projects in the folder runs. Runs that train continue.
   * @throws with the reason where the folder stays trusted
   */
  withdrawTrust: act(folder).returns<void>(),
  /** @throws if the project is not trusted */
  describeProject: act(folder).returns<DescribedProject>(),

  /**
   * What is in a file of data, read by a process that can read nothing else. It calls `inspecting` until the answer,
   * and ends the inspection that this page asked for before.
   * @throws Error that names file, place and value of what cannot be read, or says that it was cancelled
   */
  inspectData: act(inspectionSchema).returns<Inspected>(),
  /** Ends the inspection that this page waits for. */
  stopInspecting: act().returns<void>(),
  /**
   * Writes a project that learns from a file of data, as `tutti create --from` does, and trusts and remembers its
   * folder.
   * @throws if the folder holds files, or the choices do not fit the file
   */
  createProject: act(newProjectSchema).returns<ProjectCard>(),

  /** Checks a configuration without starting it. Lists the problems of a wrong one instead of throwing. */
  previewRun: act(runRequestSchema).returns<RunPreview>(),
  /** Starts a run, or with `repeat` the first run of a sweep, whose other runs follow. */
  startRun: act(runRequestSchema).returns<StartedRun>(),
  /** Trains the runs of a sweep that have not finished, one after the other. */
  resumeSweep: act(id).returns<void>(),
  /**
   * Stops a sweep that this process trains: its run jointly, and begins no other.
   * @throws if another process trains it
   */
  stopSweep: act(id).returns<void>(),
  /** Checks a resume with some options changed, as `previewRun` does. */
  previewResume: act(id, overrides, currentSource).returns<RunPreview>(),
  /**
   * Resumes a run with some options changed: the given rank alone, a missing member, up to where the others ended;
   * null: all ranks that are not missing. With `currentSource` it trains with the project's present code, although that
   * has changed.
   */
  resumeRun: act(id, overrides, z.int().min(0).nullable(), currentSource).returns<void>(),
  /** The points of a run at which a fork can begin, by step. */
  forkPoints: watch(id).returns<ForkPoint[]>(),
  /** What a fork of a point begins with. @throws if the run has no such point */
  forkStart: act(id, forkPointNameSchema).returns<ForkStart>(),
  /** Checks a fork, as `previewRun` does a new run. @throws if the run has no such point */
  previewFork: act(id, forkRequestSchema).returns<RunPreview>(),
  /** Starts a new run from a point of a run, which stays as it is. @returns the new run's id */
  startFork: act(id, forkRequestSchema).returns<{ id: string }>(),

  /** The waiting runs, in the order in which they start. */
  queue: act().returns<WaitingRun[]>(),
  /**
   * Puts a run or a sweep at the end of the queue.
   * @returns its id there, and its place from 1
   * @throws as `startRun` does
   */
  enqueueRun: act(runRequestSchema).returns<{ id: string; place: number }>(),
  /** Moves a waiting run to a place, from 0. */
  moveWaiting: act(id, z.int().min(0)).returns<void>(),
  removeWaiting: act(id).returns<void>(),
  /**
   * Starts a waiting run now, although others may train.
   * @throws if it cannot start; it then stays in the queue with the reason
   */
  startWaiting: act(id).returns<StartedRun>(),

  /** A part of the list of runs, filtered and sorted. Without a limit: at most `maximumRunRows`. */
  runs: watch(runQuerySchema).returns<RunPage>(),
  runOverview: watch().returns<RunOverview>(),
  /** The runs of a query in groups, with means over those that have finished. */
  runGroups: watch(groupRequestSchema).returns<RunGroups>(),
  /**
   * The course of the monitored metric of runs, by their ids: at most 48 values over its steps, none for a run without
   * one. Runs that one answer has no time for are left out.
   */
  trends: watch(z.array(id).max(200)).returns<Record<string, Float64Array>>(),
  /** The fields that lists of these runs can show, of the newest 1,000 of them. */
  runFields: watch(runQuerySchema).returns<KnownField[]>(),
  updateRun: act(id, runNotesSchema).returns<void>(),
  /** Moves a run's folder to the trash. For 10 s `undoDelete` with the run's id restores it; then it is removed. */
  deleteRun: act(id).returns<void>(),
  /** Takes a run's id, or what `deleteCheckpoints` or `deleteComparison` returned. */
  undoDelete: act(id).returns<void>(),

  comparisons: act().returns<ComparisonList>(),
  saveComparison: act(comparisonContentSchema).returns<SavedComparison>(),
  /** Renames a comparison, or replaces what it shows. @throws if there is none with this id */
  updateComparison: act(comparison, comparisonContentSchema.partial()).returns<SavedComparison>(),
  /** Moves a comparison to the trash. `undoDelete` restores it for 10 s. */
  deleteComparison: act(comparison).returns<{ deletion: string }>(),

  /** All data of a run except its metrics. */
  run: watch(id).returns<RunView>(),
  /** The command behind each attempt of a run that has one. @throws if its project cannot be described */
  attemptCommands: act(id).returns<AttemptCommand[]>(),
  /**
   * The points of some metrics, or of all if `names` is empty; each metric has at most `maximumPoints`, which include
   * its extremes.
   */
  series: watch(id, seriesRequestSchema).returns<SeriesData>(),
  /** The loads of the run's devices while it trained. */
  deviceLoads: watch(id).returns<DeviceLoadColumns[]>(),
  /** The newest `limit` lines of the ranks' logs, merged by time. */
  logs: watch(id, z.strictObject({ ranks: z.array(z.int()), limit: z.int().min(1).max(100_000) })).returns<LogLine[]>(),
  control: act(id, controlSchema).returns<void>(),
  abort: act(id).returns<void>(),
  /** Calls `runUpdates` for this run from now on, until `unwatch` or the end of the connection. */
  watch: watch(id).returns<void>(),
  unwatch: watch(id).returns<void>(),

  checkpoints: watch(id).returns<CheckpointList>(),
  /** Pins checkpoints, or removes their pins. */
  pinCheckpoints: act(id, z.strictObject({ checkpoints, isPinned: z.boolean() })).returns<void>(),
  /**
   * Moves checkpoints to the trash, as `deleteRun` does.
   * @throws for a checkpoint that the run may replace while it trains
   */
  deleteCheckpoints: act(id, z.strictObject({ checkpoints })).returns<{ deletion: string }>(),
  /** Evaluates any choice of checkpoints as one ensemble, in a worker. */
  evaluateSet: act(id, setRequestSchema).returns<SetEvaluationResult>(),
  /**
   * The members' predictions on a split, kept under a name (`best`, `epoch-00012`, `final`, ...), which becomes part of
   * a path.
   */
  predictions: watch(
    id,
    z.strictObject({ split, name: z.string().regex(/^[\w-]+$/) }),
  ).returns<PredictionData | null>(),
  predictionNames: watch(id).returns<{ split: z.output<typeof split>; name: string; epoch: number }[]>(),
  /**
   * Inputs of samples that the run was evaluated on, from its project's data.
   * @throws if these have changed since the run trained
   */
  sampleInputs: act(id, inputsRequestSchema).returns<SampleInputs>(),
  /** What new samples for the ensemble of a run have. @throws if the members have no checkpoints of one name */
  sampleForm: act(id).returns<SampleForm>(),
  /** Announces a file that is too large for one call. @returns the name under which its parts follow */
  openUpload: act(uploadRequestSchema).returns<string>(),
  /** Sends the next part of a file. */
  sendPart: act(upload, uploadPartSchema).returns<void>(),
  /** Removes what was sent of a file. The hub does so too when the connection ends. */
  dropUpload: act(upload).returns<void>(),
  /** Predicts new samples with the ensemble of a run, in a worker. @throws if the samples do not fit */
  predictSamples: act(id, samplesToPredictSchema).returns<SamplePredictions>(),
  /**
   * Fits calibration, sets or intervals and thresholds for a set of a run, as `tutti calibrate` does, and keeps them
   * with the run.
   */
  calibrate: act(id, calibrationRequestSchema).returns<CalibrationResult>(),
  /** What `tutti calibrate` fitted for the sets of a run. */
  postprocessing: watch(id).returns<Postprocessing[]>(),

  /**
   * Follows a run on another machine through the user's ssh, which asks for nothing, as `tutti attach` does: it appears
   * among the runs, live and in reach, until it ends, `detachRun` is called, or this process ends. Takes
   * `user@login:run`, which becomes an argument of ssh after a check, or the id of a run that was followed before; and
   * Tutti's home there, a path for the shell there, quoted; null: the usual one.
   * @throws with what ssh said and the remedy
   */
  attachRun: act(z.string().min(1).max(4096), z.string().min(1).max(4096).nullable()).returns<{ id: string }>(),
  /**
   * Follows a run on another machine no longer. It trains on, and its copy stays.
   * @throws if another process follows it
   */
  detachRun: act(id).returns<void>(),
  /** Makes an exported run, which the page has sent, a run of this home. */
  importRun: act(importRequestSchema).returns<ImportedRunView>(),
  /** Writes an export in Tutti's home. Returns its path, and in the browser a link to download it. */
  exportRun: act(id, exportRequestSchema).returns<ExportResult>(),
  /** Writes the report of a run in Tutti's home, as `tutti report` does. */
  reportRun: act(id).returns<ExportResult>(),

  /** The newest first. */
  studies: watch().returns<StudySummary[]>(),
  study: watch(id).returns<StudyView>(),
  /** Creates a study and begins its trials in this process. @throws with the problems of the request */
  createStudy: act(studyRequestSchema).returns<{ id: string }>(),
  /**
   * Works on a study in this process, until it has its trials or is stopped. Others may work on it at the same time.
   */
  resumeStudy: act(id).returns<void>(),
  /**
   * Stops the work of all processes on a study. Running trials stop with their state, and go on when the study does.
   */
  stopStudy: act(id).returns<void>(),
  /** Raises the number of trials by the given one. */
  addTrials: act(id, z.int().min(1).max(1_000_000)).returns<void>(),
  /** Lets a study try these values next. @throws if they do not fit its space */
  enqueueTrial: act(id, assignmentSchema).returns<void>(),
  /** Makes a run from members of a study's trials. @returns the new run's id */
  ensembleFromStudy: act(id, studyEnsembleSchema).returns<{ id: string }>(),
  /** Creates a study with the trials of an Optuna journal that was sent in parts. */
  importStudy: act(studyImportSchema).returns<{ id: string }>(),
  /** Writes an Optuna journal in Tutti's home, as `exportRun` writes runs. */
  exportStudy: act(id).returns<ExportResult>(),
  /** Removes a study. Its runs stay. @throws while a process works on it */
  deleteStudy: act(id).returns<void>(),
  /** Calls `studyChanged` for this study from now on, until `unwatchStudy` or the end of the connection. */
  watchStudy: watch(id).returns<void>(),
  unwatchStudy: watch(id).returns<void>(),

  /** The searches in Tutti's home, the newest first. */
  discoveries: act().returns<DiscoverySummary[]>(),
  /** @throws if there is no such search, or its files are damaged */
  discovery: act(id).returns<DiscoveryView>(),
  /** What a round predicted. @throws if the search kept no predictions of that round */
  discoveryRound: act(id, z.int().min(1)).returns<RoundPrediction>(),
  /**
   * The map of a search's pool, which is made once, if the call says so: that reads the project's data again.
   * @returns null if it has not been made, and is not to be
   */
  discoveryMap: act(id, z.boolean()).returns<PoolMapView | null>(),
  /** What candidates are, by their indices: at most 500 at a time. */
  discoveryCandidates: act(id, z.array(z.int().min(0)).max(500)).returns<CandidateLooks>(),
  /** Begins a search in this process. @throws if the request does not fit the project */
  createDiscovery: act(searchRequestSchema).returns<{ id: string }>(),
  /**
   * Continues a search in this process, until its rounds are done, a person has to label, or it is stopped.
   * @throws if another process works on it
   */
  resumeDiscovery: act(id).returns<void>(),
  /** Stops the work of this process on a search. The round that trains is trained again when the search goes on. */
  stopDiscovery: act(id).returns<void>(),
  /**
   * Adds labels that a person gave, and continues the search.
   * @returns how many are new
   * @throws that names a wrong label
   */
  answerDiscovery: act(id, answersSchema).returns<{ added: number }>(),
  /** The question to a person as the text of a CSV file. @throws if nobody is asked */
  discoveryQuestion: act(id).returns<string>(),
  /** Calls `discoveryChanged` for this search from now on, until `unwatchDiscovery` or the end of the connection. */
  watchDiscovery: act(id).returns<void>(),
  unwatchDiscovery: act(id).returns<void>(),
};

type Methods = typeof hubMethods;

/** The hub as pages call it, and as the service implements it. */
export type HubApi = {
  [M in keyof Methods]: Methods[M] extends HubMethod<infer Arguments, infer Result>
    ? (...values: Arguments) => Promise<Result>
    : never;
};
