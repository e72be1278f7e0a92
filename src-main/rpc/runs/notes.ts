import type { RunNotes } from '../../../core/protocol/pages/rpc.ts';
import { changeRunNotes } from '../../store/runs/run-notes.ts';
import type { HubParts } from '../parts.ts';

/** Changes what the user noted on a run, in its folder, then in the index. */
export async function updateNotes({ hub }: HubParts, id: string, changes: RunNotes): Promise<void> {
  const { folder } = await hub.find(id);
  hub.index.annotate(folder, await changeRunNotes(folder, changes));
}
