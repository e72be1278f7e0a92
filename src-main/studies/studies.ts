import { stat } from 'node:fs/promises';
import type { ProjectDescription } from '../../core/protocol/run/project-description.ts';
import type { StudySummary, StudyView } from '../../core/protocol/pages/study-views.ts';
import { summarize, viewTrial } from '../../core/protocol/pages/study-summary.ts';
import type { Study, StudyRequest } from '../../core/protocol/studies/study.ts';
import { unlessMissing } from '../../core/node/file-error.ts';
import { messageOf } from '../../core/text/errors.ts';
import type { Hub } from '../hub/hub.ts';
import { usableKinds } from '../processes/native-build.ts';
import { selectDevices } from '../devices/selection.ts';
import { resolveConfig } from '../runs/configuration/resolve-config.ts';
import { requirePermissions, requireTrust } from '../trust/project-trust.ts';
import { studyOf } from './create-study.ts';
import { listStudyFolders, studyPaths } from './study-folder.ts';
import { type NewLine, StudyStore } from './study-store.ts';
import { hasWorkers } from '../campaigns/locks.ts';
import { StudyDriver } from './work/driver.ts';
import { HubRunner } from './work/hub-runner.ts';
import { sharePlaces } from '../devices/plan.ts';

/** Trials that a study has under way at a time, unless the user says so: at most this many, and one for each device. */
const usualPlaces = 8;

/**
 * Creates a study with its folder, as a whole or not at all.
 * @param first what its log begins with
 * @throws Error with the problems of the request
 */
export async function createStudy(
  hub: Hub,
  request: StudyRequest,
  project: ProjectDescription,
  first: readonly NewLine[] = [],
): Promise<StudyStore> {
  requireTrust(request.projectFolder);
  requirePermissions(request.projectFolder, project.permissions);
  const devices = await devicesOf(hub, project, request.overrides ?? {});
  const study = studyOf(request, project, Math.min(usualPlaces, devices.length) * (request.trialsPerWorker ?? 1));
  const store = await StudyStore.create(study, [{ type: 'trials', count: request.trials }, ...first]);
  noteOrWarn(hub, store);
  return store;
}

/**
 * A driver that works on a study with real runs.
 * @param project its description now
 * @param options how it works
 * @param options.most trials under way at a time in this process; by default all that the study has
 * @param options.onChange called after each change of the study
 * @throws UntrustedError if the project asks for what the user has not allowed
 */
export async function driveStudy(
  hub: Hub,
  store: StudyStore,
  project: ProjectDescription,
  { most = Infinity, onChange = () => undefined }: { most?: number; onChange?: () => void } = {},
): Promise<StudyDriver> {
  const { study } = store;
  requirePermissions(study.project.folder, project.permissions);
  const devices = await devicesOf(hub, project, study.overrides);
  const places = Math.max(1, Math.floor(Math.min(study.parallel, most) / study.trialsPerWorker));
  const runner = new HubRunner(hub, study, project, sharePlaces(devices, places, study.trialsPerWorker > 1));
  const changed = (): void => {
    noteOrWarn(hub, store);
    onChange();
  };
  return new StudyDriver({ store, runner, places, onChange: changed });
}

/** Ids of the devices on which a study's trials train. */
async function devicesOf(hub: Hub, project: ProjectDescription, overrides: Study['overrides']): Promise<string[]> {
  const { devices: selection, backend } = resolveConfig(project, [overrides]);
  const { devices } = await hub.devices();
  return selectDevices(selection, devices, usableKinds(backend)).map(({ id }) => id);
}

/** All studies, the newest first. Reads only those that have changed since they were last in the index. */
export async function listStudies(hub: Hub, isHere: (id: string) => boolean = () => false): Promise<StudySummary[]> {
  const folders = await listStudyFolders();
  hub.index.studies.keep(folders);
  const summaries = await Promise.all(folders.map((folder) => summaryOf(hub, folder)));
  return summaries
    .filter((summary) => summary !== null)
    .map((summary) => ({ ...summary, isHere: isHere(summary.id) }))
    .toSorted((left, right) => (left.createdAt < right.createdAt ? 1 : -1));
}

/** Null for a folder that holds no study that can be read. */
async function summaryOf(hub: Hub, folder: string): Promise<StudySummary | null> {
  const bytes = (await unlessMissing(stat(studyPaths(folder).trials)))?.size ?? 0;
  const known = hub.index.studies.find(folder, bytes);
  const isRunning = hasWorkers(folder);
  if (known !== null) return { ...known, status: isRunning ? 'running' : known.status };
  try {
    const store = await StudyStore.open(folder);
    note(hub, store);
    return summarize(store.study, store.log, { isRunning, isHere: false });
  } catch {
    return null;
  }
}

/** Writes a study to the index, as it is when nobody works on it. */
function note({ index }: Hub, { folder, study, log, bytes }: StudyStore): void {
  index.studies.put(folder, bytes, summarize(study, log, { isRunning: false, isHere: false }));
}

/** The index is a cache: where it cannot be written, whoever lists the studies reads the folder instead. */
function noteOrWarn(hub: Hub, store: StudyStore): void {
  try {
    note(hub, store);
  } catch (error) {
    const warning = `The index does not show the newest state of the study: ${messageOf(error)}`;
    if (!store.warnings.includes(warning)) store.warnings.push(warning);
  }
}

/** A study with all its trials. */
export function viewStudy({ folder, study, log, warnings }: StudyStore, isHere = false): StudyView {
  return {
    study,
    folder,
    summary: summarize(study, log, { isRunning: hasWorkers(folder), isHere }),
    trials: log.trials.map((trial) => viewTrial(study, trial)),
    enqueued: log.enqueued.map((values) => ({ ...values })),
    warnings,
  };
}
