import { z } from 'zod';
import { controlSchema } from '../../core/protocol/run/messages.ts';
import {
  calibrationRequestSchema,
  checkpointKeySchema,
  setRequestSchema,
} from '../../core/protocol/run/checkpoint-tasks.ts';
import { answersSchema, searchRequestSchema } from '../../core/protocol/pages/discovery-views.ts';
import { exportRequestSchema, importRequestSchema, seriesRequestSchema } from '../../core/protocol/pages/run-data.ts';
import {
  samplesToPredictSchema,
  uploadPartSchema,
  uploadRequestSchema,
} from '../../core/protocol/pages/new-samples.ts';
import { inputsRequestSchema } from '../../core/ensemble/sample-inputs.ts';
import { comparisonContentSchema } from '../../core/protocol/pages/saved-comparison.ts';
import { folderNameSchema, type HubApi } from '../../core/protocol/pages/rpc.ts';
import { runQuerySchema } from '../../core/protocol/pages/run-list.ts';
import { cleanableSchema } from '../../core/protocol/pages/runs/disk-use.ts';
import { groupRequestSchema } from '../../core/protocol/pages/runs/run-groups.ts';
import { forkPointNameSchema, forkRequestSchema, runNotesSchema } from '../../core/protocol/pages/run-views.ts';
import { studyEnsembleSchema, studyImportSchema } from '../../core/protocol/pages/study-views.ts';
import { studyRequestSchema } from '../../core/protocol/studies/study.ts';
import { assignmentSchema } from '../../core/search/trial.ts';
import { runRequestSchema } from '../../core/protocol/pages/project-views.ts';

const id = z.string().min(1);
const folder = z.string().min(1);
const split = z.enum(['validation', 'test']);
const checkpoints = z.array(checkpointKeySchema).min(1);

/** The arguments of each method. All calls of pages are checked against these schemas first. */
const argumentSchemas = {
  session: z.tuple([]),
  newLink: z.tuple([]),
  newWatchLink: z.tuple([]),
  endWatchers: z.tuple([]),
  health: z.tuple([]),
  openFolder: z.tuple([folderNameSchema]),
  projects: z.tuple([]),
  projectCard: z.tuple([folder]),
  projectPicture: z.tuple([folder]),
  openPath: z.tuple([folder]),
  forgetProject: z.tuple([folder]),
  trustProject: z.tuple([folder]),
  allowProject: z.tuple([folder, z.array(z.string())]),
  trustedFolders: z.tuple([]),
  withdrawTrust: z.tuple([folder]),
  describeProject: z.tuple([folder]),
  previewRun: z.tuple([runRequestSchema]),
  startRun: z.tuple([runRequestSchema]),
  resumeSweep: z.tuple([id]),
  stopSweep: z.tuple([id]),
  previewResume: z.tuple([id, runRequestSchema.shape.overrides, z.boolean().optional()]),
  resumeRun: z.tuple([id, runRequestSchema.shape.overrides, z.int().min(0).nullable(), z.boolean().optional()]),
  forkPoints: z.tuple([id]),
  forkStart: z.tuple([id, forkPointNameSchema]),
  previewFork: z.tuple([id, forkRequestSchema]),
  startFork: z.tuple([id, forkRequestSchema]),
  runs: z.tuple([runQuerySchema]),
  discoveries: z.tuple([]),
  discovery: z.tuple([id]),
  discoveryRound: z.tuple([id, z.int().min(1)]),
  discoveryMap: z.tuple([id, z.boolean()]),
  discoveryCandidates: z.tuple([id, z.array(z.int().min(0)).max(500)]),
  createDiscovery: z.tuple([searchRequestSchema]),
  resumeDiscovery: z.tuple([id]),
  stopDiscovery: z.tuple([id]),
  answerDiscovery: z.tuple([id, answersSchema]),
  discoveryQuestion: z.tuple([id]),
  watchDiscovery: z.tuple([id]),
  unwatchDiscovery: z.tuple([id]),
  comparisons: z.tuple([]),
  saveComparison: z.tuple([comparisonContentSchema]),
  // The id becomes part of a path.
  updateComparison: z.tuple([z.uuid(), comparisonContentSchema.partial()]),
  deleteComparison: z.tuple([z.uuid()]),
  runOverview: z.tuple([]),
  runGroups: z.tuple([groupRequestSchema]),
  runFields: z.tuple([runQuerySchema]),
  diskUse: z.tuple([]),
  measureNewRuns: z.tuple([]),
  setDiskQuota: z.tuple([z.number().positive().nullable()]),
  cleanable: z.tuple([]),
  clean: z.tuple([z.array(cleanableSchema).min(1).max(1000)]),
  queue: z.tuple([]),
  enqueueRun: z.tuple([runRequestSchema]),
  moveWaiting: z.tuple([id, z.int().min(0)]),
  removeWaiting: z.tuple([id]),
  startWaiting: z.tuple([id]),
  trends: z.tuple([z.array(id).max(200)]),
  updateRun: z.tuple([id, runNotesSchema]),
  deleteRun: z.tuple([id]),
  undoDelete: z.tuple([id]),
  run: z.tuple([id]),
  attemptCommands: z.tuple([id]),
  series: z.tuple([id, seriesRequestSchema]),
  deviceLoads: z.tuple([id]),
  logs: z.tuple([id, z.strictObject({ ranks: z.array(z.int()), limit: z.int().min(1).max(100_000) })]),
  control: z.tuple([id, controlSchema]),
  abort: z.tuple([id]),
  checkpoints: z.tuple([id]),
  pinCheckpoints: z.tuple([id, z.strictObject({ checkpoints, isPinned: z.boolean() })]),
  deleteCheckpoints: z.tuple([id, z.strictObject({ checkpoints })]),
  evaluateSet: z.tuple([id, setRequestSchema]),
  // The name becomes part of a path.
  predictions: z.tuple([id, z.strictObject({ split, name: z.string().regex(/^[\w-]+$/) })]),
  predictionNames: z.tuple([id]),
  sampleInputs: z.tuple([id, inputsRequestSchema]),
  sampleForm: z.tuple([id]),
  openUpload: z.tuple([uploadRequestSchema]),
  sendPart: z.tuple([z.uuid(), uploadPartSchema]),
  dropUpload: z.tuple([z.uuid()]),
  predictSamples: z.tuple([id, samplesToPredictSchema]),
  calibrate: z.tuple([id, calibrationRequestSchema]),
  postprocessing: z.tuple([id]),
  // The first becomes an argument of ssh, after a check; the second a path for the shell there, quoted.
  attachRun: z.tuple([z.string().min(1).max(4096), z.string().min(1).max(4096).nullable()]),
  detachRun: z.tuple([id]),
  importRun: z.tuple([importRequestSchema]),
  exportRun: z.tuple([id, exportRequestSchema]),
  reportRun: z.tuple([id]),
  studies: z.tuple([]),
  study: z.tuple([id]),
  createStudy: z.tuple([studyRequestSchema]),
  resumeStudy: z.tuple([id]),
  stopStudy: z.tuple([id]),
  addTrials: z.tuple([id, z.int().min(1).max(1_000_000)]),
  enqueueTrial: z.tuple([id, assignmentSchema]),
  ensembleFromStudy: z.tuple([id, studyEnsembleSchema]),
  importStudy: z.tuple([studyImportSchema]),
  exportStudy: z.tuple([id]),
  deleteStudy: z.tuple([id]),
  watchStudy: z.tuple([id]),
  unwatchStudy: z.tuple([id]),
  watch: z.tuple([id]),
  unwatch: z.tuple([id]),
} satisfies { [Method in keyof HubApi]: z.ZodType<Parameters<HubApi[Method]>> };

/** All methods, for tests that check each of them. */
export const methodNames = Object.keys(argumentSchemas);

export function isMethod(name: string): name is keyof HubApi {
  return Object.hasOwn(argumentSchemas, name);
}

/** @throws Error that names the method and the problem of each wrong argument */
export function checkArguments(method: keyof HubApi, values: unknown): unknown[] {
  const parsed = argumentSchemas[method].safeParse(values);
  if (parsed.success) return parsed.data;
  throw new Error(`A page called ${method} with wrong arguments:\n${z.prettifyError(parsed.error)}`);
}
