import { computed, type ComputedRef, ref, type Ref, shallowReactive, type WritableComputedRef } from 'vue';
import type { SetEvaluationResult, SetRequest } from '../../../../core/protocol/pages/rpc.ts';
import { useHub } from '../../../client/use-hub.ts';
import { useQueryParameter } from '../../../composables/use-query.ts';
import { messageOf } from '../../../../core/text/errors.ts';
import { cellsOf, type CheckpointMatrix, type MatrixCell } from './checkpoint-matrix.ts';

export type SetName = 'a' | 'b';
export const setNames: readonly SetName[] = ['a', 'b'];

export interface CheckpointSets {
  /** The set that clicks go to. */
  active: Ref<SetName>;
  split: WritableComputedRef<string>;
  cells: Record<SetName, ComputedRef<MatrixCell[]>>;
  results: Record<SetName, ComputedRef<SetEvaluationResult | null>>;
  isEvaluating: Ref<boolean>;
  error: Ref<string | null>;
  /** Replaces what a set holds. */
  fill(name: SetName, cells: readonly MatrixCell[]): void;
  /** Takes a cell into the active set, or out of it. */
  toggle(cell: MatrixCell): void;
  /** Takes cells into the active set. */
  add(cells: readonly MatrixCell[]): void;
  /** Evaluates those of the sets that are not empty and not yet evaluated, in the workers. */
  evaluate(): Promise<void>;
}

/** Two sets of checkpoints, each an ensemble to be. The address keeps which cells they hold. */
export function useSets(runId: string, matrix: ComputedRef<CheckpointMatrix>): CheckpointSets {
  const hub = useHub();
  const active = ref<SetName>('a');
  const split = useQueryParameter('split', 'validation');
  const keys = { a: useQueryParameter('a'), b: useQueryParameter('b') };
  const known = shallowReactive(new Map<string, SetEvaluationResult>());
  const isEvaluating = ref(false);
  const error = ref<string | null>(null);

  const byKey = computed(() => new Map(cellsOf(matrix.value).map((cell) => [cell.key, cell])));
  const cellsOfSet = (name: SetName) =>
    computed(() => keys[name].value.split('_').flatMap((key) => byKey.value.get(key) ?? []));
  const cells = { a: cellsOfSet('a'), b: cellsOfSet('b') };
  const resultOf = (name: SetName) => computed(() => known.get(spellSet(name)) ?? null);

  /** By rank and step: a name may go to better weights later. */
  function spellSet(name: SetName): string {
    return `${split.value} ${cells[name].value.map(({ key }) => key).join()}`;
  }

  function requestOf(name: SetName): SetRequest {
    return {
      members: cells[name].value.map((cell) => ({ rank: cell.rank, name: cell.names[0] })),
      split: split.value === 'test' ? 'test' : 'validation',
    };
  }

  function fill(name: SetName, chosen: readonly MatrixCell[]): void {
    const sorted = chosen.toSorted((left, right) => left.rank - right.rank || left.step - right.step);
    keys[name].value = [...new Set(sorted.map(({ key }) => key))].join('_');
  }

  function toggle(cell: MatrixCell): void {
    const held = cells[active.value].value;
    const others = held.filter(({ key }) => key !== cell.key);
    fill(active.value, others.length < held.length ? others : [...held, cell]);
  }

  async function evaluate(): Promise<void> {
    isEvaluating.value = true;
    error.value = null;
    try {
      for (const name of setNames) {
        const request = requestOf(name);
        const spelled = spellSet(name);
        if (request.members.length === 0 || known.has(spelled)) continue;
        known.set(spelled, await hub.evaluateSet(runId, request));
      }
    } catch (reason) {
      error.value = messageOf(reason);
    }
    isEvaluating.value = false;
  }

  return {
    active,
    split,
    cells,
    results: { a: resultOf('a'), b: resultOf('b') },
    isEvaluating,
    error,
    fill,
    toggle,
    add: (chosen) => fill(active.value, [...cells[active.value].value, ...chosen]),
    evaluate,
  };
}
