import { isHubAlive, isOpen } from '../../store/runs/recovery.ts';
import { readRunRecord } from '../../store/runs/run-folder.ts';
import { readRunNotes } from '../../store/runs/run-notes.ts';
import type { HubParts } from '../parts.ts';
import type { Trash } from './trash.ts';

/** Moves a run to the trash, from where its id brings it back. @throws when it is being trained */
export async function deleteRun({ hub, feed }: HubParts, trash: Trash, id: string): Promise<void> {
  const { folder } = await hub.find(id);
  const record = await readRunRecord(folder);
  if (isOpen(record) && (await isHubAlive(record))) {
    throw new Error(`The run ${id} is ${record.status} under process ${record.hub?.pid}. Stop it before deleting it.`);
  }
  await trash.put(id, [folder], async () => {
    hub.index.upsert(await readRunRecord(folder), folder);
    hub.index.annotate(folder, await readRunNotes(folder));
  });
  hub.index.remove(folder);
  feed.forget(id);
}
