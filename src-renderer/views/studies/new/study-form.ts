import {
  describeOptions,
  describeRule,
  type OptionDescription,
  parseOptionValue,
  type PlainObject,
  showValue,
} from '../../../../core/options/index.ts';
import { infoOfOwn } from '../../../../core/metrics/registry/metric.ts';
import { metricsOfTask } from '../../../../core/metrics/registry/index.ts';
import type { ProjectDescription } from '../../../../core/protocol/run/project-description.ts';
import type { Objective, StudyRequest } from '../../../../core/protocol/studies/study.ts';
import { type Pruner, prunerSchema } from '../../../../core/studies/pruners/settings.ts';
import { type Sampler, samplerSchema } from '../../../../core/studies/samplers/index.ts';
import { type SearchSpace, searchSpaceSchema } from '../../../../core/studies/space/schema.ts';
import type { Assignment } from '../../../../core/studies/space/space.ts';
import { parseParameter, parseSplits, writeDomain } from '../../../../core/studies/space/parse.ts';
import type { Direction } from '../../../../core/studies/trial.ts';
import { messageOf } from '../../../../core/text/errors.ts';
import { type OptionText, readFixed } from '../../../components/form/option-texts.ts';
import { explainUnfitting } from '../../../../core/studies/space/fit-options.ts';
import { z } from 'zod';

interface ReadSpace {
  /** Null while a row is wrong, or none is there. */
  space: SearchSpace | null;
  /** What is wrong with each row; null for none. */
  problems: (string | null)[];
}

/** The space that the rows describe, with values as the command line writes them, checked as the hub will. */
export function readRows(rows: readonly OptionText[], options: readonly OptionDescription[]): ReadSpace {
  const read = rows.map(({ path, text }, index) => {
    if (path === '') return { problem: 'Choose an option.' };
    if (rows.findIndex((row) => row.path === path) < index) return { problem: `${path} is already there.` };
    try {
      return { entry: [path, parseParameter(`${path}=${text}`).parameter] as const };
    } catch (error) {
      return { problem: messageOf(error) };
    }
  });
  const problems = read.map(({ problem }) => problem ?? null);
  if (rows.length === 0 || problems.some((problem) => problem !== null)) return { space: null, problems };
  const space = Object.fromEntries(read.flatMap(({ entry }) => (entry === undefined ? [] : [entry])));
  const faults = new Map(explainUnfitting(space, options).map(({ path, message }) => [path, message]));
  const checked = searchSpaceSchema.safeParse(space);
  for (const { path, message } of checked.error?.issues ?? []) faults.set(String(path[0]), message);
  const explained = rows.map(({ path }) => faults.get(path) ?? null);
  return { space: faults.size === 0 && checked.success ? checked.data : null, problems: explained };
}

export function rowsOf(space: SearchSpace): OptionText[] {
  return Object.entries(space).map(([path, parameter]) => ({ path, text: writeDomain(parameter) }));
}

/** The options that can be searched: a space names hyperparameters of the project without a prefix. */
export function searchable(options: readonly OptionDescription[]): OptionDescription[] {
  const prefix = 'hyperparameters.';
  return options.map((option) =>
    option.path.startsWith(prefix) ? { ...option, path: option.path.slice(prefix.length) } : option,
  );
}

/** A first proposal of values for an option. */
export function proposalFor({ type, choices, default: standard }: OptionDescription): string {
  if (choices !== undefined) return `choice(${choices.map(({ value }) => value).join(',')})`;
  if (type === 'boolean') return 'choice(true,false)';
  if (typeof standard !== 'number') return 'float(0,1)';
  if (type === 'integer') return `int(${Math.max(1, Math.round(standard / 4))},${Math.max(2, standard * 4)})`;
  return standard > 0 ? `log(${precise(standard / 100)},${precise(standard * 100)})` : 'float(0,1)';
}

function precise(value: number): number {
  return Number(value.toPrecision(3));
}

/** The settings of samplers and pruners, which follow from their schemas. */

export type Chooser = 'sampler' | 'pruner';

const described = describeOptions(z.object({ sampler: samplerSchema, pruner: prunerSchema }));

/** The settings of a kind of sampler or pruner. */
export function settingsOf(chooser: Chooser, kind: string): OptionDescription[] {
  return described.filter(
    ({ path, when }) => path !== `${chooser}.kind` && when?.path === `${chooser}.kind` && when.equals.includes(kind),
  );
}

/** What a field shows before anything was typed. */
export function standardText({ default: standard }: OptionDescription): string {
  return standard === undefined ? '' : showValue(standard);
}

/** @param texts by path; the default where there is none */
function readSettings(
  chooser: Chooser,
  kind: string,
  texts: Readonly<Record<string, string>>,
): { values: PlainObject; problems: Record<string, string> } {
  const values: PlainObject = {};
  const problems: Record<string, string> = {};
  for (const option of settingsOf(chooser, kind)) {
    const text = texts[option.path] ?? standardText(option);
    try {
      values[option.path.slice(chooser.length + 1)] = parseOptionValue(option, text);
    } catch {
      problems[option.path] = `It is ${text === '' ? 'empty' : text}, but must be ${describeRule(option)}.`;
    }
  }
  return { values, problems };
}

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
  fixed: OptionText[];
}

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
