import type { OptionDescription, PlainObject } from '../../../../core/options/index.ts';
import { infoOfOwn } from '../../../../core/metrics/registry/metric.ts';
import { metricsOfTask } from '../../../../core/metrics/registry/index.ts';
import type { ProjectDescription } from '../../../../core/protocol/run/project-description.ts';
import type { Objective, StudyRequest } from '../../../../core/protocol/studies/study.ts';
import { prunerSchema, type Pruner } from '../../../../core/search/pruners/settings.ts';
import { samplerSchema, type Sampler } from '../../../../core/search/samplers/index.ts';
import type { SearchSpace } from '../../../../core/search/space/schema.ts';
import type { Assignment } from '../../../../core/search/space/space.ts';
import { parseSplits } from '../../../../core/search/space/parse.ts';
import type { Direction } from '../../../../core/search/trial.ts';
import { messageOf } from '../../../../core/text/errors.ts';
import { type FixedOption, readFixed } from '../../../components/form/fixed-options.ts';
import { readSettings } from './space-rows.ts';

/** The fields of a new study, beside its space. */
export interface StudyForm {
  name: string;
  trials: number;
  parallel: number;
  trialsPerWorker: number;
  seeds: number;
  sampler: Sampler['kind'];
  pruner: Pruner['kind'];
  /** Settings of samplers and pruners as texts, by path: `sampler.points`. */
  settings: Record<string, string>;
  resource: StudyRequest['resource'] & string;
  evaluation: StudyRequest['evaluation'] & string;
  /** The text of the command line: folds, or values of an option; empty: one split. */
  splits: string;
  seed: number;
  minimumImprovement: number;
  objectives: Pick<Objective, 'metric' | 'kind'>[];
  /** Options with one value in all trials, such as `maxEpochs`. */
  fixed: FixedOption[];
}

export const pruners: { id: Pruner['kind']; title: string; help: string }[] = [
  { id: 'none', title: 'None', help: 'Every trial trains to its end.' },
  { id: 'median', title: 'Median', help: 'Stops a trial that is worse than half of the others at the same step.' },
  {
    id: 'wilcoxon',
    title: 'Wilcoxon',
    help: 'Stops a trial that is worse than the best one over the splits of the data.',
  },
  { id: 'asha', title: 'ASHA', help: 'Pauses trials at rungs and continues with the best share of those so far.' },
  { id: 'halving', title: 'Successive halving', help: 'As ASHA, but waits for all trials of a rung.' },
  { id: 'hyperband', title: 'Hyperband', help: 'Successive halving with different first rungs.' },
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

/** The objective before anybody chose one: the ensemble's NLL, where it has one. */
export function usualObjective(metrics: readonly { metric: string }[]): StudyForm['objectives'][number] {
  const nll = metrics.find(({ metric }) => metric === 'nll');
  return { metric: (nll ?? metrics[0])?.metric ?? 'nll', kind: 'ensemble' };
}

export interface ReadForm {
  /** Null while a field is wrong. */
  request: StudyRequest | null;
  /** What is wrong, by field, or by the path of a setting. */
  problems: Partial<Record<string, string>>;
}

/** The request that the form makes. */
export function readForm(
  form: StudyForm,
  subject: { folder: string; project: Described; options: readonly OptionDescription[]; space: SearchSpace | null },
): ReadForm {
  const problems: ReadForm['problems'] = {};
  for (const field of ['trials', 'parallel', 'trialsPerWorker', 'seeds'] as const) {
    if (!(Number.isInteger(form[field]) && form[field] >= 1)) {
      problems[field] = `It is ${form[field]}, but must be a whole number of at least 1.`;
    }
  }
  if (form.parallel % form.trialsPerWorker !== 0) {
    problems.parallel ??= `It is ${form.parallel}, but must be a multiple of the trials in a worker, ${form.trialsPerWorker}.`;
  }
  if (!(Number.isInteger(form.seed) && form.seed >= 0)) problems.seed = 'Enter a whole number of at least 0.';
  if (!(form.minimumImprovement >= 0)) problems.minimumImprovement = 'Give it a number of at least 0.';
  const { overrides, problem } = readFixed(form.fixed, subject.options);
  if (problem !== null) problems.fixed = problem;
  const { splits, problem: ofSplits } = readSplits(form.splits, subject.options);
  if (ofSplits !== null) problems.splits = ofSplits;
  const sampler = readSettings('sampler', form.sampler, form.settings);
  const pruner = readSettings('pruner', form.pruner, form.settings);
  Object.assign(problems, sampler.problems, pruner.problems);
  if (Object.keys(problems).length > 0 || subject.space === null) return { request: null, problems };
  const read = { space: subject.space, overrides, splits, sampler: sampler.values, pruner: pruner.values };
  return { request: requestOf(form, subject.folder, subject.project, read), problems };
}

function requestOf(
  form: StudyForm,
  projectFolder: string,
  project: Described,
  {
    sampler,
    pruner,
    ...read
  }: Record<'sampler' | 'pruner' | 'overrides', PlainObject> & {
    space: SearchSpace;
    splits: Assignment[];
  },
): StudyRequest {
  const { trials, parallel, trialsPerWorker, seeds, seed, minimumImprovement, resource, evaluation } = form;
  const directions = new Map(searchableMetrics(project).map(({ metric, direction }) => [metric, direction]));
  return {
    ...read,
    projectFolder,
    name: form.name.trim() === '' ? null : form.name.trim(),
    trials,
    parallel,
    trialsPerWorker,
    seeds,
    seed,
    minimumImprovement,
    resource,
    evaluation,
    sampler: samplerSchema.parse({ ...sampler, kind: form.sampler }),
    pruner: prunerSchema.parse({ ...pruner, kind: form.pruner }),
    objectives: form.objectives.map((objective) => ({
      ...objective,
      direction: directions.get(objective.metric) ?? 'minimize',
    })),
  };
}

function readSplits(
  text: string,
  options: readonly OptionDescription[],
): { splits: Assignment[]; problem: string | null } {
  if (text.trim() === '') return { splits: [], problem: null };
  try {
    const splits = parseSplits(text.trim());
    const names = [...new Set(splits.flatMap((split) => Object.keys(split)))];
    const unknown = names.find(
      (name) => !options.some(({ path }) => path === name || path === `hyperparameters.${name}`),
    );
    return { splits, problem: unknown === undefined ? null : `There is no option ${unknown}.` };
  } catch (error) {
    return { splits: [], problem: messageOf(error) };
  }
}
