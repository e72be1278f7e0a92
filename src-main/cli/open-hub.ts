import { Hub } from '../hub/hub.ts';
import type { TaskServer } from '../nodes/task-server.ts';

/**
 * Calls `use` with a hub, which is closed afterwards in any case. Notices of the hub are printed on stderr.
 * @param tasks of a launch on several nodes
 */
export async function withHub<T>(use: (hub: Hub) => Promise<T>, tasks: TaskServer | null = null): Promise<T> {
  const hub = await Hub.open(null, tasks);
  try {
    for (const notice of hub.notices) console.error(notice);
    return await use(hub);
  } finally {
    hub.close();
  }
}
