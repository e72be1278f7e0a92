import type { OptionDescription } from '../../../core/options/index.ts';
import {
  type AcquisitionKind,
  acquisitionSchema,
  type BatchKind,
  type SearchGoal,
  whyNoBatch,
} from '../../../core/discovery/search.ts';
import type { SearchRequest } from '../../../core/protocol/pages/discovery-views.ts';
import { type OptionText, readFixed } from '../../components/form/option-texts.ts';

/** The fields of a new search. */
export interface SearchForm {
  name: string;
  hitClass: number;
  direction: 'maximize' | 'minimize';
  /** Empty: without a threshold. */
  threshold: string;
  oracle: 'hidden' | 'command' | 'person';
  command: string;
  acquisition: AcquisitionKind;
  batch: BatchKind;
  kappa: number;
  xi: number;
  beside: AcquisitionKind[];
  start: number;
  isStartStratified: boolean;
  perRound: number;
  rounds: number;
  hasClassWeights: boolean;
  isWarm: boolean;
  seed: number;
  fixed: OptionText[];
}

export const oracles: { id: SearchForm['oracle']; title: string; help: string }[] = [
  {
    id: 'hidden',
    title: 'The pool itself',
    help: 'The labels are known, and hidden until they are asked for: a trial of the method.',
  },
  { id: 'command', title: 'A command', help: 'Gets a JSON line for each candidate and prints one with its label.' },
  { id: 'person', title: 'A person', help: 'The page of the search asks, or a CSV file.' },
];

/** Searches for a class or for values, by the project's task; null for tasks that cannot be searched. */
export function goalKind(task: string): 'class' | 'values' | null {
  if (task === 'binary' || task === 'classification') return 'class';
  return task === 'regression' || task === 'heteroscedastic-regression' ? 'values' : null;
}

export interface ReadForm {
  /** Null while a field is wrong. */
  request: SearchRequest | null;
  /** What is wrong, by field. */
  problems: Partial<Record<keyof SearchForm, string>>;
}

/** The request that the form makes. */
export function readForm(
  form: SearchForm,
  subject: { folder: string; task: string; options: readonly OptionDescription[] },
): ReadForm {
  const isOfClass = goalKind(subject.task) === 'class';
  const problems = problemsOf(form, isOfClass);
  const { overrides, problem } = readFixed(form.fixed, subject.options);
  if (problem !== null) problems.fixed = problem;
  if (Object.keys(problems).length > 0) return { request: null, problems };
  const { acquisition: kind, batch, kappa, xi, oracle, command, beside, start, perRound, rounds, isWarm, seed } = form;
  const request: SearchRequest = {
    projectFolder: subject.folder,
    name: form.name.trim() === '' ? null : form.name.trim(),
    overrides,
    goal: goalOf(form, isOfClass),
    oracle: oracle === 'command' ? { kind: oracle, command } : { kind: oracle },
    acquisition: acquisitionSchema.parse({ kind, batch, kappa, xi }),
    beside: beside.filter((arm) => arm !== kind),
    start,
    isStartStratified: mayStratify(form, subject.task) && form.isStartStratified,
    perRound,
    rounds,
    hasClassWeights: isOfClass && form.hasClassWeights,
    isWarm,
    seed,
  };
  return { request, problems };
}

/** Whether the start can have the classes in the proportions of the pool. */
export function mayStratify({ oracle }: Pick<SearchForm, 'oracle'>, task: string): boolean {
  return oracle === 'hidden' && goalKind(task) === 'class';
}

function problemsOf(form: SearchForm, isOfClass: boolean): ReadForm['problems'] {
  const problems: ReadForm['problems'] = {};
  for (const field of ['start', 'perRound', 'rounds'] as const) {
    if (!(Number.isInteger(form[field]) && form[field] >= 1)) {
      problems[field] = 'Enter a whole number of at least 1.';
    }
  }
  if (!(Number.isInteger(form.seed) && form.seed >= 0)) problems.seed = 'Enter a whole number of at least 0.';
  if (form.acquisition === 'ucb' && !(form.kappa >= 0)) problems.kappa = 'Enter a number of at least 0.';
  if (!Number.isFinite(form.xi)) problems.xi = 'Enter a number.';
  if (isOfClass && !(Number.isInteger(form.hitClass) && form.hitClass >= 0)) {
    problems.hitClass = 'Enter the number of the class, from 0.';
  }
  if (!isOfClass && form.threshold.trim() !== '' && !Number.isFinite(Number(form.threshold))) {
    problems.threshold = `"${form.threshold}" is not a number. Leave it empty for a search without hits.`;
  }
  if (form.oracle === 'command' && form.command.trim() === '') problems.command = 'Enter the command that labels.';
  const reason = whyNoBatch({ kind: form.acquisition, batch: form.batch });
  if (reason !== null) problems.batch = reason;
  return problems;
}

function goalOf({ hitClass, direction, threshold }: SearchForm, isOfClass: boolean): SearchGoal {
  if (isOfClass) return { kind: 'class', label: hitClass };
  return { kind: direction, threshold: threshold.trim() === '' ? null : Number(threshold) };
}
