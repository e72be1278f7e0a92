import { dirname, join } from 'node:path';
import { listOwnFolder, makeOwnFolder, removeOwn, writeOwnFile } from '../../core/node/own-folders.ts';
import { type Postprocessing, postprocessingPath } from '../../core/postprocessing/schema.ts';
import type {
  CalibrationReply,
  CalibrationRequest,
  CalibrationResult,
  CalibrationTask,
} from '../../core/protocol/run/checkpoint-tasks.ts';
import { toJson } from '../../core/protocol/wire/numbers.ts';
import { memberRanksOf } from '../../core/protocol/run/lost-members.ts';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import { isUsable } from '../backends/choose-blas.ts';
import { askProcess } from '../processes/standing-process.ts';
import { calibrateEntry } from '../processes/node-process.ts';
import { sourceOfRun } from '../runs/configuration/run-source.ts';
import { grantFor } from '../trust/grant.ts';

/** Time to read the data, including a download, and to predict with every member. */
const timeoutMs = 3_600_000;

export interface Calibrated extends CalibrationResult {
  /** The file that was written. */
  path: string;
}

/**
 * Fits calibration, conformal sets and thresholds for a set of a run's checkpoints in a separate process, and writes
 * them into the run.
 *
 * @throws Error if a checkpoint is missing or damaged, the project is not trusted, a split is missing or a method does
 * not suit the task
 */
export async function calibrateRun(
  folder: string,
  record: RunRecord,
  request: CalibrationRequest,
  signal?: AbortSignal,
): Promise<Calibrated> {
  const { blas, project, plan } = record;
  const device = plan[0].device;
  const task: CalibrationTask = {
    ...request,
    ranks: ranksOf(record, request.set),
    into: folder,
    ...(await sourceOfRun(folder, record)),
    // A BLAS that only the record names is not loaded. Its results differ in the last bits at most.
    blas: blas !== null && (await isUsable(blas)) ? blas : null,
  };
  const own = postprocessingPath(request.set);
  await makeOwnFolder(folder, dirname(own));
  const reply = await askProcess<CalibrationReply>({
    entry: calibrateEntry,
    args: [],
    message: task,
    timeoutMs,
    grant: grantFor({ project: project.folder, read: [folder], write: [join(folder, dirname(own))], device }),
    device,
    signal,
    subject: `The calibration of ${request.set} has no result`,
  });
  if (reply.type === 'failed') throw new Error(reply.message);
  await writeOwnFile(folder, own, `${toJson(reply.postprocessing, 2)}\n`);
  await removeOldReferences(folder, request.set, reply.postprocessing);
  return { postprocessing: reply.postprocessing, warnings: reply.warnings, path: join(folder, own) };
}

/** Removes what the distances of earlier calibrations of the set were measured from. */
async function removeOldReferences(folder: string, set: string, { outside }: Postprocessing): Promise<void> {
  const kept = outside?.reference?.path;
  for (const { path, name } of await listOwnFolder(folder, dirname(postprocessingPath(set)))) {
    const isReference = name.startsWith(`${set}-`) && name.endsWith('.safetensors');
    if (isReference && path !== kept) await removeOwn(folder, path);
  }
}

/** The members of an evaluated set; without an evaluation all ranks that are not missing. */
function ranksOf(record: RunRecord, set: string): number[] {
  return record.summary?.evaluatedSets.find((found) => found.set === set)?.ranks ?? memberRanksOf(record);
}
