import { ref, type Ref } from 'vue';
import type { CheckpointKey } from '../../../../core/protocol/pages/rpc.ts';
import { useHub } from '../../../client/use-hub.ts';
import { formatBytes } from '../../../text/format.ts';
import { useToastsStore } from '../../../stores/toasts.ts';
import { bytesOf, type MatrixCell } from './checkpoint-matrix.ts';
import { reasonsToKeep } from './reasons-to-keep.ts';

export interface CheckpointActions {
  /** What is to be exported; empty while nothing is. */
  exported: Ref<CheckpointKey[]>;
  /** What is to be deleted once that is confirmed, and why it is worth asking. */
  asked: Ref<{ cells: readonly MatrixCell[]; reasons: string } | null>;
  /** Pins cells, or takes their pins away where all of them have one. */
  togglePin(cells: readonly MatrixCell[]): Promise<void>;
  exportCells(cells: readonly MatrixCell[]): void;
  /** Deletes cells; those that are pinned or the best of something only after asking. */
  remove(cells: readonly MatrixCell[]): Promise<void>;
  confirm(): Promise<void>;
}

/** What can be done to checkpoints of a run. @param changed called when the list of them is another one */
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
    const checkpoints = keysOf(cells);
    await toasts.attempt(async () => {
      const { deletion } = await hub.deleteCheckpoints(runId, { checkpoints });
      await changed();
      const what = checkpoints.length === 1 ? '1 checkpoint is' : `${checkpoints.length} checkpoints are`;
      toasts.tell(`${what} deleted, ${formatBytes(bytesOf(cells))}.`, async () => {
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

  // Of weights that go by several names one copy is enough.
  const exportCells = (cells: readonly MatrixCell[]): void => {
    exported.value = cells.map(({ rank, names }) => ({ rank, name: names[0] }));
  };
  return { exported, asked, togglePin, exportCells, remove, confirm };
}

function keysOf(cells: readonly MatrixCell[]): CheckpointKey[] {
  return cells.flatMap(({ rank, names }) => names.map((name) => ({ rank, name })));
}
