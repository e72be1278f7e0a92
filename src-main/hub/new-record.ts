import { availableParallelism, cpus, hostname, release, totalmem } from 'node:os';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Environment, RunRecord } from '../../core/protocol/run/record.ts';
import type { Placement } from '../../core/protocol/machine/devices.ts';
import type { AttemptFacts } from '../runs/recording/attempts.ts';
import { usableCode } from '../runs/configuration/kept-code.ts';
import { hashProjectSource } from '../runs/configuration/project-source.ts';
import { withNext } from '../runs/recording/attempts.ts';
import type { PlannedRun } from './plan-run.ts';

/** The first record of a planned run. */
export async function newRecord(planned: PlannedRun): Promise<RunRecord> {
  const { id, name, project, projectFolder, config, overrides, plan, blas, workers, sweep } = planned;
  const createdAt = new Date().toISOString();
  const origin = await originOf(projectFolder, plan);
  return {
    format: 1,
    id,
    name,
    project: { name: project.name, description: project.description, folder: projectFolder },
    task: project.task,
    ...(project.metrics === undefined || project.metrics.length === 0 ? {} : { metrics: project.metrics }),
    ...(project.quantiles === undefined ? {} : { quantiles: project.quantiles }),
    ...(project.outputs === undefined || project.outputs.length === 0 ? {} : { outputs: project.outputs }),
    config,
    status: 'created',
    createdAt,
    endedAt: null,
    plan,
    seeds: plan.map(({ rank }) => (config.identicalSeeds ? config.seed : (config.seed + rank) >>> 0)),
    blas,
    ...(workers === undefined ? {} : { workers }),
    versions: { node: process.versions.node },
    gitCommit: origin.gitCommit ?? null,
    attempts: withNext([], { kind: 'start', overrides, config, ...origin }),
    ...(sweep === undefined ? {} : { sweep }),
    hub: null,
    error: null,
    summary: null,
  };
}

/** What the record of a run made from another one takes over: what the members learn. */
export function learnedBy({ project, task, metrics, quantiles, outputs }: RunRecord) {
  return { project, task, ...(metrics && { metrics }), ...(quantiles && { quantiles }), ...(outputs && { outputs }) };
}

/** The version of a project's source, and where an attempt trains, as its record keeps them. */
export async function originOf(
  folder: string,
  plan: readonly Placement[],
): Promise<Pick<AttemptFacts, 'sourceHash' | 'gitCommit' | 'environment'>> {
  const [sourceHash, commit] = [await hashProjectSource(folder), await gitCommit(folder)];
  return { sourceHash, gitCommit: commit, environment: environmentOf(plan) };
}

/**
 * The same for a run that goes on, or its fork: of the last attempt's code, where the project's has changed since and
 * the run's own copy may run.
 */
export async function keptOrigin(
  runFolder: string,
  { attempts }: Pick<RunRecord, 'attempts'>,
  present: Awaited<ReturnType<typeof originOf>>,
): Promise<Awaited<ReturnType<typeof originOf>>> {
  const last = attempts.at(-1);
  if (!(await hasKeptOther(runFolder, last?.sourceHash, present.sourceHash))) return present;
  return { ...present, sourceHash: last?.sourceHash, gitCommit: last?.gitCommit };
}

/** Whether a run's code differs from the project's present code, and the run's own copy may run. */
export async function hasKeptOther(
  runFolder: string,
  hash: string | null | undefined,
  present: string | null | undefined,
): Promise<boolean> {
  return hash !== present && (await usableCode(runFolder, hash)) !== null;
}

/** The project's current commit; null outside a repository, and if git is not installed. */
async function gitCommit(folder: string): Promise<string | null> {
  if (!existsSync(folder)) return null;
  try {
    // Without the developer tools, macOS's git asks the user in a window to install them.
    if (process.platform === 'darwin') await promisify(execFile)('xcode-select', ['-p'], { timeout: 2000 });
    const { stdout } = await promisify(execFile)('git', ['-C', folder, 'rev-parse', 'HEAD'], {
      timeout: 2000,
      windowsHide: true,
    });
    return stdout.trim();
  } catch {
    return null;
  }
}

/** Variables that may change results or speed. */
const relevant =
  /^(TUTTI_|OMP_|OPENBLAS_|MKL_|BLIS_|CUDA_|NVIDIA_|ROCR_|HIP_|TF_|UV_THREADPOOL_SIZE$|NODE_OPTIONS$|LD_LIBRARY_PATH$|LD_PRELOAD$|LANG$|TZ$)/;
/** Names of variables that hold secrets. */
const secret = /TOKEN|SECRET|PASS|CREDENTIAL|AUTH|KEY|COOKIE/i;

/** Where an attempt trains: the machine, its devices, versions and variables, without secrets. */
function environmentOf(plan: readonly Placement[]): Environment {
  const variables = Object.entries(process.env).filter(([name]) => relevant.test(name) && !secret.test(name));
  return {
    host: hostname(),
    os: `${process.platform} ${release()} ${process.arch}`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    node: process.versions.node,
    devices: [...new Set(plan.map(({ device }) => `${device.id} ${device.name}`))],
    variables: Object.fromEntries(variables.map(([name, value = '']) => [name, value])),
  };
}
