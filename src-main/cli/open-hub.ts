import { Hub } from '../hub/hub.ts';

/** Lets `use` work with a hub, which is closed in any case. What the hub noticed while opening is told on stderr. */
export async function withHub<T>(use: (hub: Hub) => Promise<T>): Promise<T> {
  const hub = await Hub.open();
  try {
    for (const notice of hub.notices) console.error(notice);
    return await use(hub);
  } finally {
    hub.close();
  }
}
