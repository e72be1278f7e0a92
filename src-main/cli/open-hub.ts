import { Hub } from '../hub/hub.ts';

/** Calls `use` with a hub, which is closed afterwards in any case. Notices of the hub are printed on stderr. */
export async function withHub<T>(use: (hub: Hub) => Promise<T>): Promise<T> {
  const hub = await Hub.open();
  try {
    for (const notice of hub.notices) console.error(notice);
    return await use(hub);
  } finally {
    hub.close();
  }
}
