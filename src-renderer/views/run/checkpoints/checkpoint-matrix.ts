import { type MetricMode, modeFor } from '../../../../core/metrics/metric-mode.ts';
import type { CheckpointCell } from '../../../../core/protocol/pages/run-data.ts';
import { formatBytes, formatDuration, formatMetric } from '../../../../core/text/numbers.ts';
import { computed, type ComputedRef } from 'vue';
import type { RunView } from '../../../../core/protocol/pages/run-views.ts';
import type { RunStore } from '../../../stores/run.ts';
import { memberMetric } from '../run-facts.ts';

/** The checkpoints of a rank at one step. The same weights may be saved under several names. */
export interface MatrixCell {
  /** `3@480`: rank and step. */
  key: string;
  rank: number;
  epoch: number;
  step: number;
  /** `ensemble-best`, `epoch-00009`, ... */
  names: string[];
  isEnsembleBest: boolean;
  isMemberBest: boolean;
  isPinned: boolean;
  /** Of all of its files. */
  bytes: number;
  savedAt: string;
  /** The rank's own score at this epoch; null where it was not evaluated. */
  score: number | null;
  /** From 0, the worst score of all cells, to 1, the best; null without a score. */
  shade: number | null;
}

interface MatrixColumn {
  epoch: number;
  step: number;
  isEnsembleBest: boolean;
}

/** Ranks by the steps at which a checkpoint was saved. */
export interface CheckpointMatrix {
  ranks: number[];
  columns: MatrixColumn[];
  /** A row for each rank, a column for each step; null where the rank has no checkpoint of that step. */
  rows: (MatrixCell | null)[][];
}

/** A rank's own score after an epoch; null without one. */
type ScoreOf = (rank: number, epoch: number) => number | null;

export function checkpointMatrix(
  kept: readonly CheckpointCell[],
  scoreOf: ScoreOf,
  mode: MetricMode | null,
): CheckpointMatrix {
  const byKey = Map.groupBy(kept, ({ record }) => cellKey(record.rank, record.step));
  const cells = new Map([...byKey].map(([key, same]) => [key, mergeCell(key, same, scoreOf)]));
  if (mode !== null) shadeByScore([...cells.values()], mode);
  const ranks = [...new Set(kept.map(({ record }) => record.rank))].sort((left, right) => left - right);
  const columns = columnsOf([...cells.values()]);
  const rows = ranks.map((rank) => columns.map(({ step }) => cells.get(cellKey(rank, step)) ?? null));
  return { ranks, columns, rows };
}

/** The cells of a matrix, row by row. */
export function cellsOf({ rows }: CheckpointMatrix): MatrixCell[] {
  return rows.flat().filter((cell) => cell !== null);
}

/** Size of cells on disk, in bytes. */
export function bytesOf(cells: readonly (MatrixCell | null)[]): number {
  return cells.reduce((sum, cell) => sum + (cell?.bytes ?? 0), 0);
}

/** The cells in the rectangle that two cells span, both included. */
export function cellsBetween(matrix: CheckpointMatrix, from: MatrixCell, to: MatrixCell): MatrixCell[] {
  const isBetween = (value: number, one: number, other: number) =>
    value >= Math.min(one, other) && value <= Math.max(one, other);
  return cellsOf(matrix).filter(
    ({ rank, step }) => isBetween(rank, from.rank, to.rank) && isBetween(step, from.step, to.step),
  );
}

export type Direction = 'left' | 'right' | 'up' | 'down';

/** The next cell in a direction, past empty places; null at the edge. */
export function neighbourOf(matrix: CheckpointMatrix, from: MatrixCell, direction: Direction): MatrixCell | null {
  const isRow = direction === 'left' || direction === 'right';
  const line = cellsOf(matrix).filter(({ rank, step }) => (isRow ? rank === from.rank : step === from.step));
  const place = line.findIndex(({ key }) => key === from.key) + (direction === 'left' || direction === 'up' ? -1 : 1);
  return line[place] ?? null;
}

function cellKey(rank: number, step: number): string {
  return `${rank}@${step}`;
}

function mergeCell(key: string, same: readonly CheckpointCell[], scoreOf: ScoreOf): MatrixCell {
  const [{ record }] = same;
  const { rank, epoch, step, savedAt } = record;
  return {
    key,
    rank,
    epoch,
    step,
    names: same.map((cell) => cell.record.name),
    isEnsembleBest: same.some((cell) => cell.isEnsembleBest),
    isMemberBest: same.some((cell) => cell.isMemberBest),
    isPinned: same.some((cell) => cell.isPinned),
    bytes: same.reduce((sum, cell) => sum + cell.record.bytes, 0),
    savedAt,
    score: scoreOf(rank, epoch),
    shade: null,
  };
}

function shadeByScore(cells: readonly MatrixCell[], mode: MetricMode): void {
  const scores = cells.flatMap(({ score }) => (score !== null && Number.isFinite(score) ? [score] : []));
  const extremes = [Math.min(...scores), Math.max(...scores)];
  const [best, worst] = mode === 'min' ? extremes : extremes.toReversed();
  for (const cell of cells) {
    if (cell.score === null || !Number.isFinite(cell.score)) continue;
    cell.shade = worst === best ? 1 : (worst - cell.score) / (worst - best);
  }
}

function columnsOf(cells: readonly MatrixCell[]): MatrixColumn[] {
  const byStep = Map.groupBy(cells, ({ step }) => step);
  return [...byStep.values()]
    .map((same) => ({
      epoch: same[0].epoch,
      step: same[0].step,
      isEnsembleBest: same.some(({ isEnsembleBest }) => isEnsembleBest),
    }))
    .sort((left, right) => left.step - right.step);
}

/** `rank 3 · epoch 12, step 480 · ensemble-best · own score 0.4101 · 1.2 MiB · 3 m ago`. */
export function describeCell(cell: MatrixCell, nowMs: number = Date.now()): string {
  const ageSeconds = Math.max(0, Math.round((nowMs - Date.parse(cell.savedAt)) / 1000));
  return [
    `rank ${cell.rank}`,
    `epoch ${cell.epoch + 1}, step ${cell.step}`,
    cell.names.join(', '),
    cell.score === null ? 'not evaluated' : `own score ${formatMetric(cell.score)}`,
    formatBytes(cell.bytes),
    `${formatDuration(ageSeconds)} ago`,
    ...(cell.isPinned ? ['pinned'] : []),
  ].join(' · ');
}

/** A cell for screen readers, with the sets that hold it: `AB`, empty for none. */
export function labelOfCell(cell: MatrixCell, sets: string): string {
  return [
    `rank ${cell.rank}, epoch ${cell.epoch + 1}, step ${cell.step}: ${cell.names.join(', ')}`,
    ...(cell.isPinned ? ['pinned'] : []),
    cell.score === null ? 'not evaluated' : `own score ${cell.score.toPrecision(4)}`,
    sets === '' ? 'in no set' : `in set ${sets.split('').join(' and ')}`,
  ].join(', ');
}

/**
 * Why checkpoints should be deleted only after confirmation: `1 is pinned, 2 are of the ensemble’s best.` Null for no
 * reason.
 */
export function reasonsToKeep(cells: readonly MatrixCell[]): string | null {
  const reasons = [
    { count: cells.filter(({ isPinned }) => isPinned).length, what: 'pinned' },
    { count: cells.filter(({ isEnsembleBest }) => isEnsembleBest).length, what: 'of the ensemble’s best' },
    { count: cells.filter(({ isMemberBest }) => isMemberBest).length, what: 'the best of their rank' },
  ].filter(({ count }) => count > 0);
  if (reasons.length === 0) return null;
  return `${reasons.map(({ count, what }) => `${count} ${count === 1 ? 'is' : 'are'} ${what}`).join(', ')}.`;
}

/** The matrix of a run's checkpoints, each scored by its rank's metric for the ensemble's monitor. */
export function useMatrix(
  run: RunStore,
  view: () => RunView,
  saved: () => readonly CheckpointCell[],
): ComputedRef<CheckpointMatrix> {
  const scores = computed(() => {
    const { ensembleMonitor, record } = view();
    return new Map(record.plan.map(({ rank }) => [rank, scoresByEpoch(run, ensembleMonitor, rank)]));
  });
  const scoreOf: ScoreOf = (rank, epoch) => scores.value.get(rank)?.get(epoch) ?? null;
  return computed(() => {
    const { ensembleMonitor, record } = view();
    const mode = ensembleMonitor === null ? null : modeFor(ensembleMonitor, record.config.checkpoints.mode);
    return checkpointMatrix(saved(), scoreOf, mode);
  });
}

function scoresByEpoch(run: RunStore, monitor: string | null, rank: number): Map<number, number> {
  const columns = monitor === null ? undefined : run.columns.get(memberMetric(monitor, rank));
  if (columns === undefined) return new Map();
  return new Map(Array.from(columns.epoch.subarray(0, columns.length), (epoch, at) => [epoch, columns.value[at]]));
}
