import type { ProjectDescription } from '../../../../core/protocol/run/project-description.ts';
import {
  type StudyRequestInput,
  studyRequestSchema,
  type StudyRequest,
} from '../../../../core/protocol/studies/study.ts';
import { samplers, samplerSchema } from '../../../../core/studies/samplers/index.ts';
import { prunerSchema } from '../../../../core/studies/pruners/settings.ts';
import { parseParameter, parseSplits } from '../../../../core/studies/space/parse.ts';
import type { Assignment } from '../../../../core/studies/space/space.ts';
import { objectiveFor, usualMetric } from '../../../studies/create-study.ts';
import { runFlagsOf } from '../../../runs/configuration/run-flags.ts';
import { messageOf } from '../../../../core/text/errors.ts';
import { parseAssignments } from '../../arguments.ts';
import { toUsageError, UsageError } from '../../errors.ts';

/** Options of `tutti search`, as the command line gives them. */
export interface SearchOptions {
  trials?: string;
  search: string[];
  objective: string[];
  sampler?: string;
  pruner?: string;
  resource?: string;
  evaluation?: string;
  splits: string[];
  seeds?: string;
  repeat?: string;
  parallel?: string;
  /** How many of them train in this process. */
  parallelHere?: string;
  /** Tasks of an array of jobs that share the trials. */
  array?: string;
  /** Further options of `sbatch`. */
  sbatch?: string;
  /** Whether the script of the array is only printed. */
  dryRun?: boolean;
  trialsPerWorker?: string;
  minimumImprovement?: string;
  searchSeed?: string;
  members?: string;
  maxEpochs?: string;
  set: string[];
  name?: string;
  study?: string;
  import?: string;
  trust?: boolean;
  json?: boolean;
  quiet?: boolean;
}

/** The request of a command line. @throws UsageError that names the wrong option */
export function requestOf(projectFolder: string, project: ProjectDescription, options: SearchOptions): StudyRequest {
  const { members, maxEpochs, evaluation, resource } = options;
  const assignments = [
    ...options.set,
    ...(members === undefined ? [] : [`members=${members}`]),
    ...(maxEpochs === undefined ? [] : [`maxEpochs=${maxEpochs}`]),
  ];
  const space = spaceOf(options.search);
  const request: StudyRequestInput = {
    projectFolder,
    name: options.name ?? null,
    trials: wholeNumber('--trials', options.trials ?? '50', 1),
    objectives: objectivesOf(options.objective.length === 0 ? ['ensemble'] : options.objective, project),
    overrides: parseAssignments(assignments, runFlagsOf(project)),
    splits: options.splits.flatMap(splitsOf),
    ...(space && { space }),
    ...(options.sampler !== undefined && { sampler: samplerOf(options.sampler) }),
    ...(options.pruner !== undefined && { pruner: prunerOf(options.pruner) }),
    ...(options.seeds !== undefined && { seeds: wholeNumber('--seeds', options.seeds, 1) }),
    ...(options.repeat !== undefined && { seeds: wholeNumber('--repeat', options.repeat, 1) }),
    ...(options.parallel !== undefined && { parallel: wholeNumber('--parallel', options.parallel, 1) }),
    ...(options.trialsPerWorker !== undefined && {
      trialsPerWorker: wholeNumber('--trials-per-worker', options.trialsPerWorker, 1),
    }),
    ...(options.searchSeed !== undefined && { seed: wholeNumber('--search-seed', options.searchSeed, 0) }),
    ...(options.minimumImprovement !== undefined && { minimumImprovement: Number(options.minimumImprovement) }),
    ...(evaluation !== undefined && { evaluation: evaluation as StudyRequest['evaluation'] }),
    ...(resource !== undefined && { resource: resource as StudyRequest['resource'] }),
  };
  const parsed = studyRequestSchema.safeParse(request);
  if (parsed.success) return parsed.data;
  throw new UsageError(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n'));
}

function spaceOf(texts: readonly string[]): StudyRequestInput['space'] | undefined {
  if (texts.length === 0) return undefined;
  try {
    const parameters = texts.map(parseParameter);
    return Object.fromEntries(parameters.map(({ path, parameter }) => [path, parameter]));
  } catch (error) {
    throw toUsageError(error);
  }
}

/** Objectives by their texts. @throws UsageError for one that is no objective of the project */
export function objectivesOf(texts: readonly string[], project: ProjectDescription): StudyRequest['objectives'] {
  return texts.map((text) => objectiveOf(text, project));
}

/** `ensemble`, `mean-member`, or one of them with a metric, `ensemble:acc`. */
function objectiveOf(text: string, project: ProjectDescription): StudyRequest['objectives'][number] {
  const [kind, metric = usualMetric(project.task)] = text.split(':');
  if (kind !== 'ensemble' && kind !== 'mean-member') {
    throw new UsageError(
      `--objective "${text}": it must be ensemble or mean-member, or one of them with a metric, such as ensemble:acc.`,
    );
  }
  try {
    return objectiveFor({ kind, metric }, project);
  } catch (error) {
    throw toUsageError(error);
  }
}

function splitsOf(text: string): Assignment[] {
  try {
    return parseSplits(text);
  } catch (error) {
    throw new UsageError(`--splits: ${messageOf(error)}`);
  }
}

function samplerOf(text: string): StudyRequestInput['sampler'] {
  const [, kind, points] = /^([a-z-]+)(?:\((\d+)\))?$/.exec(text) ?? [];
  const parsed = samplerSchema.safeParse({ kind, ...(points !== undefined && { points: Number(points) }) });
  if (parsed.success) return parsed.data;
  throw new UsageError(
    `--sampler "${text}": it must be ${Object.keys(samplers).join(', ')}; grid may have its points, such as grid(5).`,
  );
}

/** `median`, `wilcoxon`, or one with rungs: `asha(1,81,3)` from 1 step to 81, of which one in three goes on. */
function prunerOf(text: string): StudyRequest['pruner'] {
  const [, kind, list] = /^([a-z]+)(?:\(([\d,\s]+)\))?$/.exec(text) ?? [];
  const numbers = list === undefined ? [] : list.split(',').map(Number);
  const [minimumResource, maximumResource, reductionFactor, trials] = numbers;
  const fields =
    list === undefined
      ? {}
      : { minimumResource, maximumResource, ...(reductionFactor && { reductionFactor }), ...(trials && { trials }) };
  const parsed = prunerSchema.safeParse({ kind, ...fields });
  if (parsed.success) return parsed.data;
  throw new UsageError(
    `--pruner "${text}": it must be none, median or wilcoxon, or asha, halving or hyperband with the steps of the ` +
      'first rung, of a whole trial, and the reduction, such as asha(1,81,3).',
  );
}

function wholeNumber(option: string, text: string, least: number): number {
  if (/^\d{1,10}$/.test(text) && Number(text) >= least) return Number(text);
  throw new UsageError(`${option} "${text}": it must be a whole number of at least ${least}.`);
}
