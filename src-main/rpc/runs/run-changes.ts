import type { RunNotes } from '../../../core/protocol/pages/run-views.ts';
import { isOpen } from '../../store/index/recovery.ts';
import { isHubAlive } from '../../store/runs/hub-lock.ts';
import { readRunRecord } from '../../store/runs/run-folder.ts';
import { changeRunNotes, readNotesIfWhole } from '../../store/runs/run-notes.ts';
import type { HubParts } from '../../hub/run-feed.ts';
import type { Trash } from './trash.ts';

/** Changes the user's notes on a run, first in its folder, then in the index. */
export async function updateNotes({ hub }: HubParts, id: string, changes: RunNotes): Promise<void> {
  const { folder } = await hub.find(id);
  hub.index.annotate(folder, await changeRunNotes(folder, changes));
}

/** Moves a run to the trash; its id restores it. @throws Error while the run trains */
export async function deleteRun({ hub, feed }: HubParts, trash: Trash, id: string): Promise<void> {
  const { folder } = await hub.find(id);
  const record = await readRunRecord(folder);
  if (isOpen(record) && isHubAlive(folder)) {
    throw new Error(`The run ${id} is ${record.status} under process ${record.hub?.pid}. Stop it before deleting it.`);
  }
  await trash.put(id, [folder], async () => {
    hub.index.upsert(await readRunRecord(folder), folder);
    hub.index.annotate(folder, (await readNotesIfWhole(folder)).notes);
  });
  hub.index.remove(folder);
  feed.forget(id);
}
