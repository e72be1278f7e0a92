import { createHash } from 'node:crypto';
import { availableParallelism, cpus } from 'node:os';
import packageJson from '../../package.json' with { type: 'json' };
import { messageOf } from '../../core/text/errors.ts';
import type { Blas, Placement } from '../../core/protocol/machine/devices.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import type { Launch, WorkersTask } from '../../core/protocol/run/messages.ts';
import { settingsOf } from '../../core/protocol/run/settings.ts';
import { lockstepReason } from '../../core/protocol/run/strategies/strategy-rules.ts';
import { type Workers, type WorkersReply, workersReplySchema } from '../../core/protocol/run/workers.ts';
import { knownSurvey } from '../backends/blas-survey.ts';
import { chooseBlas } from '../backends/choose-blas.ts';
import { measureWorkersEntry } from '../processes/node-process.ts';
import { askProcess } from '../processes/standing-process.ts';
import { hashProjectSource } from '../runs/configuration/project-source.ts';
import { warmStartsOf } from '../runs/attempt/wave-launch.ts';
import { ScratchFolder } from '../runs/workers/scratch.ts';
import { dataFolders } from '../store/home.ts';
import { grantFor } from '../trust/grant.ts';
import { requireTrust } from '../trust/project-trust.ts';
import { keepMeasurement, readMeasurement } from './kept-measurements.ts';

/**
 * Chooses how many members a worker trains where `membersPerDevice` is `auto`. A short process times steps of the
 * project's own model. The choice changes no bits: members that could share a worker are computed as a stack also where
 * each has its own.
 */

/** Together must be this much faster: members with workers of their own can be lost and stopped one by one. */
const leastGain = 1.1;
/** Sets for how many seconds steps are timed; 0: not at all. */
const budgetVariable = 'TUTTI_MEASURE_SECONDS';
const usualBudgetSeconds = 1;
/** What loading the project and its data may take, in time that it computes or waits for files. */
const loadLimitMs = 10_000;
/** The same with the time in which it waits for a processor. */
const patienceMs = 30_000;

interface WorkersQuestion {
  projectFolder: string;
  /** With the backend on which it computes. */
  config: RunConfig;
  blas: Blas | null;
  /** Each rank in a worker of its own. */
  plan: readonly Placement[];
}

/** Chooses by what was measured before, or else measures now. Never rejects for what fails in that. */
export async function chooseWorkers(question: WorkersQuestion): Promise<Workers> {
  const why = whyOneByOne(question);
  if (why !== null) return alone(why);
  const members = membersTogether(question.plan);
  const key = await keyOf(question, members);
  const reply = (await readMeasurement(key)) ?? (await measure(question, members, key));
  return chosenBy(reply, members);
}

/** The same for a page, without measuring. */
export async function foreseeWorkers(question: Omit<WorkersQuestion, 'blas'>): Promise<Workers> {
  const why = whyOneByOne(question);
  if (why !== null) return alone(why);
  const survey = await knownSurvey();
  const members = membersTogether(question.plan);
  const blas = survey && (await chooseBlas(question.config, () => Promise.resolve(survey)));
  const reply = survey && (await readMeasurement(await keyOf({ ...question, blas }, members)));
  return reply === null ? alone(measuredAtStart) : chosenBy(reply, members);
}

const measuredAtStart =
  'Its start measures for about a second whether a worker trains one member or all members of its device.';

/**
 * Why members are not computed as a stack where `membersPerDevice` is `auto`; null where they are, also those with a
 * worker of their own. It depends on nothing that is measured, since the bits depend on it.
 */
export function whyNotStacked(config: RunConfig): string | null {
  const { activationCheckpointing, backend, optimizer } = config;
  const reason = lockstepReason(config);
  if (reason !== null) return `With ${reason} each rank has a worker of its own.`;
  if (backend !== 'auto' && backend !== 'wasm' && backend !== 'cpu') {
    return `On the ${backend} backend each member has a worker of its own, because results would depend on others.`;
  }
  if (activationCheckpointing !== 'none') return 'With activation checkpointing each member has a worker of its own.';
  if (optimizer.statePrecision !== 'float32') {
    return `Each member has a worker of its own, because its optimizer's state is kept as ${optimizer.statePrecision}.`;
  }
  return null;
}

/** Why each member has a worker of its own without a measurement; null where it is to be measured. */
export function whyOneByOne({ config, plan }: Pick<WorkersQuestion, 'config' | 'plan'>): string | null {
  const { onMemberLoss, placement, memoryLimitBytes } = config;
  if (membersTogether(plan) === 1) return 'Each member has a device of its own.';
  const reason = whyNotStacked(config);
  if (reason !== null) return reason;
  const each = 'Each member has a worker of its own, because';
  if (plan.some(({ device }) => device.node !== undefined)) return `${each} several nodes are not measured.`;
  if (placement === 'waves') return `${each} --placement waves trains one on a device at a time.`;
  if (onMemberLoss.kind === 'continue') return `${each} the run is to continue without a lost one.`;
  if (memoryLimitBytes > 0) return `${each} the memory of a worker is limited.`;
  return budgetMs() > 0 ? null : `${each} ${budgetVariable} is 0, so that nothing is measured.`;
}

/** Members of the fullest device. */
function membersTogether(plan: readonly Placement[]): number {
  return Math.ceil(plan.length / new Set(plan.map(({ device }) => device.id)).size);
}

function alone(why: string): Workers {
  return { members: 1, why };
}

/** The choice by what was measured. */
export function chosenBy(reply: WorkersReply, members: number): Workers {
  const each = 'Each member has a worker of its own, because';
  if (reply.type === 'apart') return alone(`${each} ${reply.why}.`);
  if (reply.type === 'failed') return alone(`${each} steps could not be measured: ${reply.message}`);
  const [single, together] = reply.measured;
  const isTogether = single.stepMs >= leastGain * together.stepMs;
  const compared =
    `${formatStep(together.stepMs)} for a step of ${members} members as one computation, ` +
    `${formatStep(single.stepMs)} one by one`;
  return {
    members: isTogether ? members : 1,
    why: `${isTogether ? 'Each worker trains all members of its device' : 'Each member has a worker of its own'}: measured ${compared}.`,
    measured: reply.measured,
  };
}

async function measure(question: WorkersQuestion, members: number, key: string): Promise<WorkersReply> {
  const startMs = performance.now();
  const reply = await ask(question, members);
  // What failed may succeed next time, unless it only takes too long.
  const isKept = reply.type !== 'failed' || performance.now() - startMs >= loadLimitMs;
  if (isKept) await keepMeasurement(key, reply);
  return reply;
}

async function ask({ projectFolder, config, blas, plan }: WorkersQuestion, members: number): Promise<WorkersReply> {
  const [{ device }] = plan;
  const scratch = await ScratchFolder.create();
  try {
    const folder = scratch.path;
    const task: WorkersTask = {
      launch: launchOf(requireTrust(projectFolder), folder, { config, blas, plan }),
      members,
      budgetMs: budgetMs(),
    };
    const answer = await askProcess<object>({
      entry: measureWorkersEntry,
      args: [],
      grant: grantFor({ project: projectFolder, read: warmStartsOf(config), write: [folder], device }),
      device,
      message: task,
      timeoutMs: loadLimitMs + task.budgetMs,
      signal: AbortSignal.timeout(patienceMs),
      subject: 'The process that measures gave no answer',
    });
    return workersReplySchema.parse(answer);
  } catch (error) {
    return { type: 'failed', message: messageOf(error).split('\n')[0] };
  } finally {
    await scratch.remove();
  }
}

/** The launch of the first rank of a run that nobody keeps. */
function launchOf(
  projectFolder: string,
  folder: string,
  { config, blas, plan }: Pick<WorkersQuestion, 'config' | 'blas' | 'plan'>,
): Launch {
  const ranks = plan.map(({ rank }) => rank);
  return {
    runId: 'measured',
    runFolder: folder,
    scratchFolder: folder,
    overflowFolder: null,
    projectFolder,
    sourceFolder: null,
    dataFolders: dataFolders(),
    config,
    blas,
    settings: settingsOf(config),
    placement: plan[0],
    groupRanks: ranks,
    nodeRanks: ranks,
    mpiProcesses: null,
    finishedRanks: [],
    lostRanks: [],
    isInWaves: false,
    until: null,
    attempt: 1,
    resumeFrom: null,
    forkedAt: null,
    labels: null,
  };
}

/**
 * What a measurement depends on: the machine, Tutti, the project's code and the options that decide the model and its
 * steps.
 */
async function keyOf({ projectFolder, config, blas, plan }: WorkersQuestion, members: number): Promise<string> {
  const { strategy, optimizer, loss, batchSize, ema, data, backend, determinism, hyperparameters } = config;
  const steps = { strategy, optimizer: { ...optimizer, learningRate: 0 }, loss, batchSize, ema, data, hyperparameters };
  const machine = [cpus()[0]?.model, availableParallelism(), process.version, packageJson.version];
  const source = await hashProjectSource(projectFolder);
  const all = [machine, backend, determinism, blas, plan[0].device.kind, members, projectFolder, source, steps];
  return createHash('sha256').update(JSON.stringify(all)).digest('hex');
}

/** @throws Error for a budget that is no time */
function budgetMs(): number {
  const given = process.env[budgetVariable] ?? '';
  const seconds = given.trim() === '' ? usualBudgetSeconds : Number(given);
  if (seconds >= 0 && seconds <= 60) return 1000 * seconds;
  throw new Error(
    `${budgetVariable} is "${given}", but must be a number of seconds from 0 to 60: how long the start of a run ` +
      'times steps.',
  );
}

function formatStep(ms: number): string {
  return `${Number(ms.toPrecision(2))} ms`;
}
