import { formatBytes } from '../../../../core/text/numbers.ts';
import { ref, type Ref } from 'vue';
import type { CheckpointKey } from '../../../../core/protocol/run/checkpoint-tasks.ts';
import { useHub } from '../../../client/use-hub.ts';
import { useToastsStore } from '../../../stores/toasts.ts';
import { bytesOf, type MatrixCell, reasonsToKeep } from './checkpoint-matrix.ts';

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
