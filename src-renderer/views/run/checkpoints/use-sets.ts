import { computed, type ComputedRef, ref, type Ref, shallowReactive, type WritableComputedRef } from 'vue';
import type { CheckpointKey, SetEvaluationResult, SetRequest } from '../../../../core/protocol/run/checkpoint-tasks.ts';
import { messageOf } from '../../../../core/text/errors.ts';
import { useHub } from '../../../client/use-hub.ts';
import { useQueryParameter } from '../../../composables/use-query.ts';
import { bytesOf, cellsOf, type CheckpointMatrix, type MatrixCell, reasonsToKeep } from './checkpoint-matrix.ts';
import { modeOfMetric } from '../../../../core/metrics/metric-mode.ts';
import { formatBytes } from '../../../../core/text/numbers.ts';
import { useToastsStore } from '../../../stores/toasts.ts';

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

export interface CheckpointActions {
  /** The checkpoints in the export dialog; empty while it is closed. */
  exported: Ref<CheckpointKey[]>;
  /** The cells whose deletion the user must confirm, and why. */
  asked: Ref<{ cells: readonly MatrixCell[]; reasons: string } | null>;
  /** Pins cells, or unpins them if all are pinned. */
  togglePin(cells: readonly MatrixCell[]): Promise<void>;
  exportCells(cells: readonly MatrixCell[]): void;
  /** Deletes cells. Asks first where one is pinned or the best of its rank or ensemble. */
  remove(cells: readonly MatrixCell[]): Promise<void>;
  confirm(): Promise<void>;
}

/** The actions on the checkpoints of a run. @param changed called when the list of checkpoints has changed */
export function useCheckpointActions(runId: string, changed: () => Promise<void>): CheckpointActions {
  const hub = useHub();
  const toasts = useToastsStore();
  const exported = ref<CheckpointKey[]>([]);
  const asked: CheckpointActions['asked'] = ref(null);

  async function togglePin(cells: readonly MatrixCell[]): Promise<void> {
    const isPinned = !cells.every((cell) => cell.isPinned);
    await toasts.attempt(async () => {
      await hub.pinCheckpoints(runId, { checkpoints: keysOf(cells), isPinned });
      await changed();
    });
  }

  async function removeNow(cells: readonly MatrixCell[]): Promise<void> {
    await toasts.attempt(async () => {
      const { deletion } = await hub.deleteCheckpoints(runId, { checkpoints: keysOf(cells) });
      await changed();
      toasts.tell(describeDeleted(cells), async () => {
        await hub.undoDelete(deletion);
        await changed();
      });
    });
  }

  async function remove(cells: readonly MatrixCell[]): Promise<void> {
    const reasons = reasonsToKeep(cells);
    if (reasons === null) await removeNow(cells);
    else asked.value = { cells, reasons };
  }

  async function confirm(): Promise<void> {
    const cells = asked.value?.cells ?? [];
    asked.value = null;
    await removeNow(cells);
  }

  // All names of a cell hold the same weights, so one of them is exported.
  const exportCells = (cells: readonly MatrixCell[]): void => {
    exported.value = cells.map(({ rank, names }) => ({ rank, name: names[0] }));
  };
  return { exported, asked, togglePin, exportCells, remove, confirm };
}

function keysOf(cells: readonly MatrixCell[]): CheckpointKey[] {
  return cells.flatMap(({ rank, names }) => names.map((name) => ({ rank, name })));
}

function describeDeleted(cells: readonly MatrixCell[]): string {
  const count = keysOf(cells).length;
  return `Deleted ${count === 1 ? '1 checkpoint' : `${count} checkpoints`}, ${formatBytes(bytesOf(cells))}.`;
}
