import { computed, type ComputedRef, ref, type Ref, shallowReactive, type WritableComputedRef } from 'vue';
import type { SetEvaluationResult, SetRequest } from '../../../../core/protocol/run/checkpoint-tasks.ts';
import { messageOf } from '../../../../core/text/errors.ts';
import { useHub } from '../../../client/use-hub.ts';
import { useQueryParameter } from '../../../composables/use-query.ts';
import { cellsOf, type CheckpointMatrix, type MatrixCell } from './checkpoint-matrix.ts';
import { modeOfMetric } from '../../../../core/metrics/metric-mode.ts';

export type SetName = 'a' | 'b';
export const setNames: readonly SetName[] = ['a', 'b'];

type Cells = Record<SetName, ComputedRef<MatrixCell[]>>;

export interface CheckpointSets extends SetEvaluation {
  /** The set that a click changes. */
  active: Ref<SetName>;
  /** The split that the sets are evaluated on. */
  split: WritableComputedRef<string>;
  cells: Cells;
  /** Replaces the cells of a set. */
  fill(name: SetName, cells: readonly MatrixCell[]): void;
  /** Adds a cell to the active set, or removes it. */
  toggle(cell: MatrixCell): void;
  /** Adds cells to the active set. */
  add(cells: readonly MatrixCell[]): void;
}

interface SetEvaluation {
  results: Record<SetName, ComputedRef<SetEvaluationResult | null>>;
  isEvaluating: Ref<boolean>;
  error: Ref<string | null>;
  /** Evaluates, in a worker, the sets that are not empty and not evaluated yet. */
  evaluate(): Promise<void>;
}

/** Two sets of checkpoints, each to be evaluated as an ensemble. The address holds their cells. */
export function useSets(runId: string, matrix: ComputedRef<CheckpointMatrix>): CheckpointSets {
  const active = ref<SetName>('a');
  const split = useQueryParameter('split', 'validation');
  const keys = { a: useQueryParameter('a'), b: useQueryParameter('b') };
  const byKey = computed(() => new Map(cellsOf(matrix.value).map((cell) => [cell.key, cell])));
  const cellsOfSet = (name: SetName) =>
    computed(() => keys[name].value.split('_').flatMap((key) => byKey.value.get(key) ?? []));
  const cells = { a: cellsOfSet('a'), b: cellsOfSet('b') };

  function fill(name: SetName, chosen: readonly MatrixCell[]): void {
    const sorted = chosen.toSorted((left, right) => left.rank - right.rank || left.step - right.step);
    keys[name].value = [...new Set(sorted.map(({ key }) => key))].join('_');
  }

  function toggle(cell: MatrixCell): void {
    const held = cells[active.value].value;
    const others = held.filter(({ key }) => key !== cell.key);
    fill(active.value, others.length < held.length ? others : [...held, cell]);
  }

  return {
    active,
    split,
    cells,
    fill,
    toggle,
    add: (chosen) => fill(active.value, [...cells[active.value].value, ...chosen]),
    ...useSetEvaluation(runId, cells, split),
  };
}

function useSetEvaluation(runId: string, cells: Cells, split: Ref<string>): SetEvaluation {
  const hub = useHub();
  /** By split and cells, as a name may move to better weights later. */
  const known = shallowReactive(new Map<string, SetEvaluationResult>());
  const isEvaluating = ref(false);
  const error = ref<string | null>(null);
  const keyOf = (name: SetName): string => `${split.value} ${cells[name].value.map(({ key }) => key).join()}`;
  const resultOf = (name: SetName) => computed(() => known.get(keyOf(name)) ?? null);

  async function evaluate(): Promise<void> {
    isEvaluating.value = true;
    error.value = null;
    try {
      for (const name of setNames) {
        const [key, request] = [keyOf(name), requestOf(cells[name].value, split.value)];
        if (request.members.length === 0 || known.has(key)) continue;
        known.set(key, await hub.evaluateSet(runId, request));
      }
    } catch (reason) {
      error.value = messageOf(reason);
    }
    isEvaluating.value = false;
  }
  return { results: { a: resultOf('a'), b: resultOf('b') }, isEvaluating, error, evaluate };
}

function requestOf(cells: readonly MatrixCell[], split: string): SetRequest {
  return {
    members: cells.map((cell) => ({ rank: cell.rank, name: cell.names[0] })),
    split: split === 'test' ? 'test' : 'validation',
  };
}

/** One metric of two evaluated sets, side by side. */
interface ComparedMetric {
  metric: string;
  a: number | null;
  b: number | null;
  /** b - a; null where one is missing. */
  difference: number | null;
  /** The better set; null where they are equal or the metric has no better direction. */
  better: 'a' | 'b' | null;
}

/** The ensemble's metrics of both sets, in their own order. */
export function compareSets(a: SetEvaluationResult | null, b: SetEvaluationResult | null): ComparedMetric[] {
  const names = new Set([...Object.keys(a?.ensemble ?? {}), ...Object.keys(b?.ensemble ?? {})]);
  return [...names].map((metric) => compareMetric(metric, a?.ensemble[metric] ?? null, b?.ensemble[metric] ?? null));
}

/** Mean of the members' values of a metric; null where there are none. */
export function memberMean(result: Pick<SetEvaluationResult, 'members'>, metric: string): number | null {
  const values = result.members[metric] ?? [];
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function compareMetric(metric: string, a: number | null, b: number | null): ComparedMetric {
  const difference = a === null || b === null ? null : b - a;
  return { metric, a, b, difference, better: betterSide(metric, difference) };
}

function betterSide(metric: string, difference: number | null): 'a' | 'b' | null {
  if (difference === null || difference === 0 || Number.isNaN(difference)) return null;
  const mode = modeOfMetric(metric) ?? null;
  if (mode === null) return null;
  return (mode === 'min' ? difference < 0 : difference > 0) ? 'b' : 'a';
}
