import type { Space } from '../space/space.ts';
import type { Direction, Trial } from '../trial.ts';
import { distributionOf, internalOf } from './distributions.ts';
import { directionNumbers, stateNumber, toPythonJson } from './operations.ts';

/** Optuna asks who wrote an operation. */
const worker = { worker_id: 'tutti-0' };

/**
 * A study as an Optuna journal, which `JournalFileBackend` opens: the study, then each trial whole. Paused trials are
 * written as running ones.
 *
 * @param trials in any order; a number that is missing becomes a failed trial without values, because Optuna numbers
 * trials without gaps
 */
export function writeJournal(
  name: string,
  directions: readonly Direction[],
  space: Space,
  trials: readonly Trial[],
): string {
  const numbers = directions.map((direction) => directionNumbers[direction]);
  const count = trials.reduce((most, { number }) => Math.max(most, number + 1), 0);
  const byNumber = new Map(trials.map((trial) => [trial.number, trial]));
  const missing = { state: 'failed', values: {}, objectives: null, reports: [] } as const;
  const operations = Array.from({ length: count }, (_, number) =>
    createTrial(space, byNumber.get(number) ?? { number, ...missing, reports: [] }),
  );
  const lines = [{ op_code: 0, ...worker, study_name: name, directions: numbers }, ...operations];
  return lines.map((line) => `${toPythonJson(line)}\n`).join('');
}

function createTrial(space: Space, { state, values, objectives, reports }: Trial): Record<string, unknown> {
  const taking = space.filter(({ path }) => Object.hasOwn(values, path));
  const [value, ...more] = objectives ?? [];
  return {
    op_code: 4,
    ...worker,
    study_id: 0,
    datetime_start: null,
    state: stateNumber(state),
    value: more.length === 0 ? (value ?? null) : null,
    values: more.length === 0 ? null : objectives,
    distributions: Object.fromEntries(taking.map(({ path, domain }) => [path, toPythonJson(distributionOf(domain))])),
    params: Object.fromEntries(taking.map(({ path, domain }) => [path, internalOf(domain, values[path])])),
    user_attrs: {},
    system_attrs: {},
    intermediate_values: Object.fromEntries(reports.map((report) => [report.step, report.value])),
  };
}
