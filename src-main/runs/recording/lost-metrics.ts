import { stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { unlessMissing } from '../../../core/node/file-error.ts';
import { listOwnFolder } from '../../../core/node/own-folders.ts';
import { roundPath } from '../../../core/node/saved-rounds.ts';
import type { Attempt } from '../../../core/protocol/run/record.ts';
import { type MetricRows, openMetricRows } from '../../store/metrics/metric-rows.ts';
import { comparePositions, type Position } from '../../store/metrics/metrics-csv.ts';
import type { AttemptMetrics } from './attempt-metrics.ts';
import type { MetricRow } from '../../store/metrics/metrics-file.ts';
import type { ParsedRow } from '../../store/metrics/metrics-row.ts';
import { readHistory } from '../../store/runs/safetensors-reader.ts';
import { readSavedRound } from '../../store/runs/saved-rounds.ts';

/** A saved state, which knows what `metrics.csv` must hold. */
export interface SavedState {
  rank: number;
  round: number;
}

/** What saved states know of `metrics.csv`: at least so many rows, and the evaluations up to a step. */
export class KnownMetrics {
  readonly rows: number;
  readonly #missing: Map<string, MetricRow>;
  #lastStep = 0;

  private constructor(rows: number, evaluations: Map<string, MetricRow>) {
    this.rows = rows;
    this.#missing = evaluations;
  }

  /** @param untilStep of the rows that the run keeps */
  static async read(folder: string, states: readonly SavedState[], untilStep: number): Promise<KnownMetrics> {
    let rows = 0;
    const evaluations = new Map<string, MetricRow>();
    for (const { rank, round } of states) {
      const record = await readSavedRound(folder, rank, round);
      if (record instanceof Error) continue;
      rows = Math.max(rows, record.metricRows ?? record.recordedRows ?? 0);
      const path = relative(folder, `${roundPath(folder, rank, round)}.safetensors`);
      // After a crash the data may still have the other name: `workers/checkpoints/sealed-file.ts`.
      const isNext = (await unlessMissing(stat(join(folder, `${path}.next`))))?.size === record.bytes;
      const history = await readHistory(folder, isNext ? `${path}.next` : path);
      for (const [metric, series] of history) addSeries(evaluations, metric, series, untilStep);
    }
    return new KnownMetrics(rows, evaluations);
  }

  /** Takes a row of the file: what it holds is not missing. */
  take({ epoch, step, cells }: ParsedRow, metrics: readonly string[]): void {
    this.#lastStep = Math.max(this.#lastStep, step);
    const key = keyOf({ epoch, step });
    const row = this.#missing.get(key);
    if (row === undefined) return;
    for (const [column, metric] of metrics.entries()) {
      if (Object.is(row.values.get(metric), cells[column])) row.values.delete(metric);
    }
    if (row.values.size === 0) this.#missing.delete(key);
  }

  /** The evaluations that no row had, in order. */
  get missing(): MetricRow[] {
    return [...this.#missing.values()].sort(comparePositions);
  }

  /** The last step of the rows of the file. */
  get lastStep(): number {
    return this.#lastStep;
  }
}

function addSeries(into: Map<string, MetricRow>, metric: string, series: Float64Array, untilStep: number): void {
  const count = series.length / 3;
  for (let index = 0; index < count; index += 1) {
    const [epoch, step, value] = [series[index], series[count + index], series[2 * count + index]];
    if (step > untilStep) continue;
    const row = into.get(keyOf({ epoch, step })) ?? { epoch, step, values: new Map<string, number>() };
    row.values.set(metric, value);
    into.set(keyOf(row), row);
  }
}

function keyOf({ epoch, step }: Position): string {
  return `${epoch},${step}`;
}

/** What was missing from `metrics.csv`, for people. */
interface LostMetrics {
  message: string;
  fromStep: number;
  toStep: number;
}

/**
 * Puts back what `metrics.csv` lacks of what the saved states know: from copies of the file that earlier attempts left,
 * then the evaluations from the states themselves. Nothing else holds the points between evaluations.
 * @param metrics the open file, whose rows `known` has taken
 * @param place where to look; `from`: the step at which the attempt begins, null where its ranks begin at several
 * @returns null if nothing is missing
 */
export async function restoreLost(
  metrics: AttemptMetrics,
  known: KnownMetrics,
  { folder, attempts, from }: { folder: string; attempts: readonly Attempt[]; from: number | null },
): Promise<LostMetrics | null> {
  const { missing, lastStep } = known;
  const { rows } = metrics;
  if (rows >= known.rows && missing.length === 0) return null;
  let copied = 0;
  for (const copy of from === null ? [] : await copiesOf(folder, attempts, from)) {
    for await (const portion of valuesOnlyIn(folder, copy)) {
      copied += countValues(portion);
      await metrics.restore(portion);
    }
  }
  await metrics.restore(missing);
  const fromStep = Math.min(lastStep, missing[0]?.step ?? Infinity);
  const toStep = Math.max(from ?? lastStep, missing.at(-1)?.step ?? 0);
  const held =
    rows < known.rows
      ? `holds ${rows} of the ${known.rows} rows that it had when the ranks saved their state`
      : 'lacks evaluations';
  const sources = [
    ...(copied > 0 ? [`${copied} values from copies that earlier attempts left`] : []),
    ...(missing.length > 0 ? [`${countValues(missing)} values of evaluations from the saved states`] : []),
  ];
  const put = sources.length === 0 ? 'Nothing else in the folder holds them' : `Put back: ${sources.join(', ')}`;
  const message =
    `${join(folder, 'metrics.csv')} ${held}: it was cut, emptied or replaced, between steps ${fromStep} and ` +
    `${toStep}. ${put}. Other points of these steps are missing from the charts; training is not affected. If you ` +
    'have a copy of the file, stop the run, put the copy in its place, and resume.';
  return { message, fromStep, toStep };
}

function countValues(rows: readonly MetricRow[]): number {
  return rows.reduce((sum, { values }) => sum + values.size, 0);
}

/**
 * A file beside `metrics.csv` that an earlier attempt left, and the last step of which the present attempt has the same
 * rows.
 */
interface MetricsCopy {
  path: string;
  untilStep: number;
}

/**
 * The copies of `metrics.csv` that the folder holds. Each attempt went on at the end of what it kept of the rows before
 * it, so a copy's rows are those of the present attempt up to the smallest step at which a later attempt began.
 * @param from the step at which the present attempt begins
 */
async function copiesOf(folder: string, attempts: readonly Attempt[], from: number): Promise<MetricsCopy[]> {
  const stepsAfter = (attempt: number): number =>
    Math.min(from, ...attempts.slice(attempt, -1).map((later) => later.from?.step ?? 0));
  const names = (await listOwnFolder(folder, '.')).map(({ name }) => name);
  // The n-th is of the n-th attempt or a later one.
  const beside = names.flatMap((name) => /^metrics\.attempt-(\d+)\.csv$/.exec(name)?.[1] ?? []).map(Number);
  const kept = (await listOwnFolder(folder, 'attempts')).filter(
    ({ name, kind }) => kind === 'folder' && /^\d+$/.test(name),
  );
  return [
    ...beside.map((number) => ({ path: `metrics.attempt-${number}.csv`, untilStep: stepsAfter(number) })),
    ...kept.map(({ path, name }) => ({ path: join(path, 'metrics.csv'), untilStep: stepsAfter(Number(name)) })),
  ];
}

/** Yields the values that a copy has and `metrics.csv` lacks, in portions. */
async function* valuesOnlyIn(folder: string, { path, untilStep }: MetricsCopy): AsyncGenerator<MetricRow[]> {
  const present = await openMetricRows(folder, ignore);
  const copy = await openMetricRows(folder, ignore, path);
  try {
    const own = eachRow(present.rows);
    let next = await own.next();
    for await (const portion of copy.rows) {
      const lacking: MetricRow[] = [];
      for (const row of portion) {
        while (next.done !== true && comparePositions(next.value, row) < 0) next = await own.next();
        const isThere = next.done !== true && comparePositions(next.value, row) === 0;
        const known = isThere ? valuesOf(next.value, present.rows.columns) : new Map<string, number>();
        const values = [...valuesOf(row, copy.rows.columns)].filter(([metric]) => !known.has(metric));
        if (row.step <= untilStep && values.length > 0) lacking.push({ ...row, values: new Map(values) });
      }
      if (lacking.length > 0) yield lacking;
    }
  } finally {
    await copy.close();
    await present.close();
  }
}

/** What is wrong with present and copy is named elsewhere, or was when the copy was made. */
function ignore(): void {}

async function* eachRow(rows: MetricRows): AsyncGenerator<ParsedRow> {
  for await (const portion of rows) yield* portion;
}

function valuesOf({ cells }: ParsedRow, metrics: readonly string[]): Map<string, number> {
  return new Map(cells.flatMap((value, column) => (value === null ? [] : [[metrics[column], value] as const])));
}
