import { formatDuration, formatValue, unknownText } from '../../../core/text/numbers.ts';
import type { StudyTrial } from '../../../core/protocol/pages/study-views.ts';
import type { Study } from '../../../core/protocol/studies/study.ts';
import { type Assignment, checkAssignment, type Space, takesPart } from '../../../core/studies/space/space.ts';
import { scoreText } from './figures.ts';
import { objectiveLabel, objectiveValue, states } from './trial-groups.ts';
import { describeDomain, type ParameterValue } from '../../../core/studies/space/domain.ts';
import { messageOf } from '../../../core/text/errors.ts';

/** A column of the table of trials, after the one of its boxes. */
export interface TrialColumn {
  /** `number`, `state`, `objective 0`, `parameter lr`, `seconds`. */
  id: string;
  title: string;
  isNumber: boolean;
  text: (trial: StudyTrial) => string;
  /** What it is sorted by; null goes last in both directions. */
  key: (trial: StudyTrial) => number | string | null;
}

export function trialColumns({ objectives }: Pick<Study, 'objectives'>, space: Space): TrialColumn[] {
  return [
    { id: 'number', title: 'Trial', isNumber: true, text: ({ number }) => String(number), key: ({ number }) => number },
    { id: 'state', title: 'State', isNumber: false, text: stateText, key: ({ state }) => states.indexOf(state) },
    ...objectives.map((objective, index) => ({
      id: `objective ${index}`,
      title: objectiveLabel(objective),
      isNumber: true,
      text: (trial: StudyTrial) => objectiveText(trial, index),
      key: (trial: StudyTrial) => finite(objectiveValue(trial, index)),
    })),
    ...space.map(({ path, domain }) => ({
      id: `parameter ${path}`,
      title: path,
      isNumber: domain.kind === 'numeric',
      text: ({ values }: StudyTrial) => valueText(values[path]),
      key: ({ values }: StudyTrial) => keyOf(values[path]),
    })),
    {
      id: 'seconds',
      title: 'Duration',
      isNumber: true,
      text: (trial) => {
        const seconds = secondsOf(trial);
        return seconds === null ? unknownText : formatDuration(Number(seconds.toPrecision(3)));
      },
      key: secondsOf,
    },
  ];
}

/** Why a column has no value for a trial: what to say beside `–`. */
export function whyNoValue({ id }: Pick<TrialColumn, 'id'>, { state }: Pick<StudyTrial, 'state'>): string {
  if (id.startsWith('parameter ')) return 'the trial does not use it';
  if (id === 'seconds') return 'the trial has not ended';
  return state === 'complete' ? 'not a number (NaN)' : `the trial is ${state}`;
}

function stateText({ state, isEnqueued, isImported }: StudyTrial): string {
  return [state, ...(isEnqueued ? ['enqueued'] : []), ...(isImported ? ['imported'] : [])].join(', ');
}

/** `0.5525 ± 0.0031`; `0.61 so far` where the trial has not been scored; `–` without any value. */
function objectiveText(trial: StudyTrial, index: number): string {
  const value = objectiveValue(trial, index);
  if (trial.state !== 'complete') return Number.isNaN(value) ? unknownText : `${formatValue(value)} so far`;
  return scoreText(trial, index);
}

function valueText(value: StudyTrial['values'][string] | undefined): string {
  if (value === undefined) return unknownText;
  return typeof value === 'number' ? formatValue(value) : String(value);
}

function keyOf(value: StudyTrial['values'][string] | undefined): number | string | null {
  return value === undefined ? null : typeof value === 'boolean' ? Number(value) : value;
}

function finite(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

function secondsOf({ startedAt, endedAt }: StudyTrial): number | null {
  return endedAt === null ? null : (Date.parse(endedAt) - Date.parse(startedAt)) / 1000;
}

/** The order of the table. */
export interface TrialOrder {
  column: string;
  isDescending: boolean;
}

/** The trials by a column; those without a value last, equal ones by number. */
export function sortTrials(
  trials: readonly StudyTrial[],
  columns: readonly TrialColumn[],
  { column, isDescending }: TrialOrder,
): StudyTrial[] {
  const { key } = columns.find(({ id }) => id === column) ?? columns[0];
  const sign = isDescending ? -1 : 1;
  return trials
    .map((trial) => ({ trial, value: key(trial) }))
    .toSorted((left, right) => compareKeys(left.value, right.value, sign) || left.trial.number - right.trial.number)
    .map(({ trial }) => trial);
}

function compareKeys(left: number | string | null, right: number | string | null, sign: number): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  // A choice may mix numbers and texts: numbers first.
  if (typeof left !== typeof right) return typeof left === 'number' ? -sign : sign;
  return left === right ? 0 : left < right ? -sign : sign;
}

/** Texts of a form by the path of their parameter. */
type Typed = Readonly<Record<string, string>>;

interface ReadValues {
  /** Of the parameters that take part. Null if a text is no value of its parameter. */
  values: Assignment | null;
  /** The parameters that take part beside the values so far. */
  taking: Space;
  /** What is wrong; null while nothing is. */
  problem: string | null;
}

/** The values that a form has, for the parameters whose conditions hold. */
export function readTyped(space: Space, typed: Typed): ReadValues {
  const values: Record<string, ParameterValue> = {};
  const taking = space.filter((parameter) => {
    if (!takesPart(parameter, values)) return false;
    values[parameter.path] = valueOf(parameter, typed[parameter.path] ?? '');
    return true;
  });
  const empty = taking.find(({ path }) => (typed[path] ?? '').trim() === '');
  if (empty !== undefined) {
    return { values: null, taking, problem: `${empty.path} is missing: give it ${describeDomain(empty.domain)}.` };
  }
  try {
    checkAssignment(space, values);
    return { values, taking, problem: null };
  } catch (error) {
    return { values: null, taking, problem: messageOf(error) };
  }
}

/** A choice by its text; a number; a text that is neither stays, so that the message shows it. */
function valueOf({ domain }: Space[number], text: string): ParameterValue {
  if (domain.kind === 'choice') return domain.choices.find((choice) => String(choice) === text) ?? text;
  const number = Number(text);
  return text.trim() === '' || Number.isNaN(number) ? text : number;
}

/** The texts of values, with which a form starts. */
export function typedOf(values: Assignment): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([path, value]) => [path, String(value)]));
}
