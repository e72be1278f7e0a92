import { messageOf } from '../../text/errors.ts';
import type { Parameter, ParameterValue } from '../space/domain.ts';
import type { Assignment } from '../space/space.ts';
import type { Direction, Trial } from '../trial.ts';
import { distributionSchema, parameterOf, valueOf, type Distribution } from './distributions.ts';
import { type CreateTrial, type Operation, operationSchema, parsePythonJson, stateNames } from './operations.ts';

/** A study of a journal. */
export interface JournalStudy {
  name: string;
  directions: Direction[];
  /** As its trials used them last. Optuna has no conditions: a trial lacks the parameters that took no part. */
  parameters: Record<string, Parameter>;
  trials: Trial[];
  /** Values that wait to be tried, often of some parameters only. */
  enqueued: Assignment[];
}

type OpenTrial = {
  state: (typeof stateNames)[number];
  values: Map<string, ParameterValue>;
  objectives: number[] | null;
  reports: Map<number, number>;
  fixed: unknown;
};
type OpenStudy = {
  name: string;
  directions: Direction[];
  parameters: Map<string, Parameter>;
  trials: OpenTrial[];
};

/**
 * Reads the studies of an Optuna journal (`JournalFileBackend`), by the rules of Optuna 5: operations on studies that
 * are deleted and trials that have ended do nothing, and an incomplete last line is ignored.
 *
 * @throws Error with the line, what is wrong there, and the remedy
 */
export function readJournal(text: string): JournalStudy[] {
  const reader = new JournalReader();
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const operation = parseLine(line, index, index === lines.length - 1);
    if (operation !== null) reader.apply(operation, index);
  }
  return reader.studies();
}

function parseLine(line: string, index: number, isUnfinished: boolean): Operation | null {
  let value: unknown;
  try {
    value = parsePythonJson(line);
  } catch (error) {
    if (isUnfinished) return null;
    throw journalError(index, `it is no JSON (${messageOf(error)})`);
  }
  const parsed = operationSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [{ path, message }] = parsed.error.issues;
  throw journalError(index, `${path.length === 0 ? 'the operation' : path.join('.')}: ${message}`);
}

function journalError(index: number, problem: string): Error {
  return new Error(
    `Line ${index + 1} of the journal is no operation of Optuna: ${problem}. Read a file that Optuna's ` +
      'JournalFileBackend wrote.',
  );
}

/** Replays operations. Studies and trials are numbered in the order of their creation. */
class JournalReader {
  readonly #studies: (OpenStudy | null)[] = [];
  readonly #trials: { trial: OpenTrial; study: OpenStudy }[] = [];

  apply(operation: Operation, line: number): void {
    if (operation.op_code === 0) {
      const { study_name: name, directions } = operation;
      if (this.#studies.some((study) => study?.name === name)) return;
      const named = directions.map((direction): Direction => (direction === 1 ? 'minimize' : 'maximize'));
      this.#studies.push({ name, directions: named, parameters: new Map(), trials: [] });
    } else if (operation.op_code === 1) {
      if (operation.study_id < this.#studies.length) this.#studies[operation.study_id] = null;
    } else if (operation.op_code === 4) this.#createTrial(operation, line);
    else if ('trial_id' in operation) this.#changeTrial(operation, line);
  }

  studies(): JournalStudy[] {
    return this.#studies.filter((study) => study !== null).map(closeStudy);
  }

  #createTrial(operation: CreateTrial, line: number): void {
    const study = this.#studies[operation.study_id] ?? null;
    if (study === null) return;
    const objectives = operation.values ?? (typeof operation.value === 'number' ? [operation.value] : null);
    const reports = Object.entries(operation.intermediate_values).map(([step, value]): [number, number] => [
      Number(step),
      value,
    ]);
    const fixed = operation.system_attrs.fixed_params;
    const trial: OpenTrial = {
      state: stateNames[operation.state],
      values: new Map(),
      objectives,
      reports: new Map(reports),
      fixed,
    };
    study.trials.push(trial);
    this.#trials.push({ trial, study });
    for (const [name, internal] of Object.entries(operation.params)) {
      if (!Object.hasOwn(operation.distributions, name)) throw journalError(line, `${name} has no distribution`);
      setValue(study, trial, name, internal, readDistribution(operation.distributions[name], line), line);
    }
  }

  #changeTrial(operation: Extract<Operation, { trial_id: number }>, line: number): void {
    const found = this.#trials.at(operation.trial_id);
    if (found === undefined || operation.trial_id >= this.#trials.length) return;
    const { trial, study } = found;
    if (trial.state !== 'running' && trial.state !== 'waiting') return;
    if (operation.op_code === 5) {
      const { param_name: name, param_value_internal: internal } = operation;
      setValue(study, trial, name, internal, readDistribution(operation.distribution, line), line);
    } else if (operation.op_code === 7) trial.reports.set(operation.step, operation.intermediate_value);
    else {
      trial.state = stateNames[operation.state];
      trial.objectives = operation.values ?? trial.objectives;
    }
  }
}

function readDistribution(text: string, line: number): Distribution {
  let value: unknown;
  try {
    value = parsePythonJson(text);
  } catch (error) {
    throw journalError(line, `a distribution is no JSON (${messageOf(error)})`);
  }
  const parsed = distributionSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw journalError(
    line,
    `the distribution ${text} is none of FloatDistribution, IntDistribution, CategoricalDistribution`,
  );
}

function setValue(
  study: OpenStudy,
  trial: OpenTrial,
  name: string,
  internal: number,
  distribution: Distribution,
  line: number,
): void {
  const value = valueOf(distribution, internal);
  if (value === undefined) throw journalError(line, `${name} has no choice ${internal}`);
  study.parameters.set(name, parameterOf(distribution));
  trial.values.set(name, value);
}

function closeStudy({ name, directions, parameters, trials }: OpenStudy): JournalStudy {
  const closed = trials.flatMap((trial, number) =>
    trial.state === 'waiting' ? [] : [closeTrial(trial, trial.state, number)],
  );
  const enqueued = trials.flatMap(({ state, fixed }) => (state === 'waiting' ? [assignmentOf(fixed)] : []));
  return { name, directions, parameters: Object.fromEntries(parameters), trials: closed, enqueued };
}

function closeTrial({ values, objectives, reports }: OpenTrial, state: Trial['state'], number: number): Trial {
  return {
    number,
    state,
    values: Object.fromEntries(values),
    objectives: state === 'complete' ? objectives : null,
    reports: [...reports].map(([step, value]) => ({ step, value })),
  };
}

/** Values that `enqueue_trial` fixed; others are left out. */
function assignmentOf(fixed: unknown): Assignment {
  if (typeof fixed !== 'object' || fixed === null) return {};
  const values = Object.entries(fixed).filter((entry): entry is [string, ParameterValue] =>
    ['number', 'string', 'boolean'].includes(typeof entry[1]),
  );
  return Object.fromEntries(values);
}
