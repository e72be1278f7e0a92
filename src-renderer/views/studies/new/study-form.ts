import type { OptionDescription, PlainObject } from '../../../../core/options/index.ts';
import { infoOfOwn } from '../../../../core/metrics/registry/own-metrics.ts';
import { metricsOfTask } from '../../../../core/metrics/registry/index.ts';
import type { ProjectDescription } from '../../../../core/protocol/run/project-description.ts';
import type { Objective, StudyRequest } from '../../../../core/protocol/studies/study.ts';
import { prunerSchema, type Pruner } from '../../../../core/search/pruners/settings.ts';
import { samplerSchema, type Sampler } from '../../../../core/search/samplers/index.ts';
import type { SearchSpace } from '../../../../core/search/space/schema.ts';
import type { Direction } from '../../../../core/search/trial.ts';
import { type FixedOption, readFixed } from '../../../components/form/fixed-options.ts';

/** The fields of a new study, beside its space. */
export interface StudyForm {
  name: string;
  trials: number;
  parallel: number;
  trialsPerWorker: number;
  seeds: number;
  sampler: Sampler['kind'];
  pruner: Pruner['kind'];
  /** Steps of a whole trial, for pruners with rungs. */
  maximumResource: number;
  seed: number;
  minimumImprovement: number;
  objectives: Pick<Objective, 'metric' | 'kind'>[];
  /** Options with one value in all trials, such as `maxEpochs`. */
  fixed: FixedOption[];
}

export const samplers: { kind: Sampler['kind']; label: string; help: string }[] = [
  { kind: 'tpe', label: 'TPE', help: 'Learns from the trials so far where good values lie; for any space.' },
  { kind: 'gp', label: 'Gaussian process', help: 'Learns most from few trials; for at most some hundred.' },
  { kind: 'random', label: 'Random', help: 'Draws each configuration independently.' },
  { kind: 'quasi-random', label: 'Quasi-random', help: 'Covers the space more evenly than random draws.' },
  { kind: 'grid', label: 'Grid', help: 'Tries all combinations of evenly spaced values.' },
];

export const pruners: { kind: Pruner['kind']; label: string; help: string }[] = [
  { kind: 'none', label: 'None', help: 'Every trial trains to its end.' },
  { kind: 'median', label: 'Median', help: 'Stops a trial that is worse than half of the others at the same step.' },
  {
    kind: 'wilcoxon',
    label: 'Wilcoxon',
    help: 'Stops a trial that is worse than the best one over the splits of the data.',
  },
  { kind: 'asha', label: 'ASHA', help: 'Pauses trials at rungs and goes on with the best share of those so far.' },
  { kind: 'halving', label: 'Successive halving', help: 'As ASHA, but waits for all trials of a rung.' },
  { kind: 'hyperband', label: 'Hyperband', help: 'Successive halving with different first rungs.' },
];

export function hasRungs(kind: Pruner['kind']): boolean {
  return kind === 'asha' || kind === 'halving' || kind === 'hyperband';
}

type Described = Pick<ProjectDescription, 'task' | 'metrics'>;

/** The metrics of a project that a study can minimize or maximize, for an ensemble and its members. */
export function searchableMetrics({ task, metrics = [] }: Described): {
  metric: string;
  title: string;
  direction: Direction;
}[] {
  return [...metricsOfTask(task), ...metrics.map((own) => infoOfOwn(own, task))]
    .filter(({ of, direction }) => of === 'prediction' && direction !== 'none')
    .map(({ name, title, direction }) => ({
      metric: name,
      title,
      direction: direction === 'min' ? 'minimize' : 'maximize',
    }));
}

export interface ReadForm {
  /** Null while a field is wrong. */
  request: StudyRequest | null;
  /** What is wrong, by field. */
  problems: Partial<Record<keyof StudyForm, string>>;
}

/** The request that the form makes. */
export function readForm(
  form: StudyForm,
  subject: { folder: string; project: Described; options: readonly OptionDescription[]; space: SearchSpace | null },
): ReadForm {
  const problems: ReadForm['problems'] = {};
  for (const field of ['trials', 'parallel', 'trialsPerWorker', 'seeds', 'maximumResource'] as const) {
    const isAsked = field !== 'maximumResource' || hasRungs(form.pruner);
    if (isAsked && !(Number.isInteger(form[field]) && form[field] >= 1)) {
      problems[field] = `It is ${form[field]}, but must be a whole number of at least 1.`;
    }
  }
  if (form.parallel % form.trialsPerWorker !== 0) {
    problems.parallel ??= `It is ${form.parallel}, but must be a multiple of the trials in a worker, ${form.trialsPerWorker}.`;
  }
  if (!(Number.isInteger(form.seed) && form.seed >= 0)) problems.seed = 'Give it a whole number of at least 0.';
  if (!(form.minimumImprovement >= 0)) problems.minimumImprovement = 'Give it a number of at least 0.';
  const { overrides, problem } = readFixed(form.fixed, subject.options);
  if (problem !== null) problems.fixed = problem;
  if (Object.keys(problems).length > 0 || subject.space === null) return { request: null, problems };
  return { request: requestOf(form, subject.folder, subject.project, subject.space, overrides), problems };
}

function requestOf(
  form: StudyForm,
  projectFolder: string,
  project: Described,
  space: SearchSpace,
  overrides: PlainObject,
): StudyRequest {
  const { trials, parallel, trialsPerWorker, seeds, seed, minimumImprovement, maximumResource } = form;
  const directions = new Map(searchableMetrics(project).map(({ metric, direction }) => [metric, direction]));
  return {
    projectFolder,
    name: form.name.trim() === '' ? null : form.name.trim(),
    trials,
    parallel,
    trialsPerWorker,
    seeds,
    seed,
    minimumImprovement,
    space,
    overrides,
    sampler: samplerSchema.parse({ kind: form.sampler }),
    pruner: prunerSchema.parse({ kind: form.pruner, ...(hasRungs(form.pruner) && { maximumResource }) }),
    objectives: form.objectives.map((objective) => ({
      ...objective,
      direction: directions.get(objective.metric) ?? 'minimize',
    })),
  };
}
