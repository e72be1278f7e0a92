import { onScopeDispose } from 'vue';
import type { DiscoveryView } from '../../../../core/protocol/pages/discovery-views.ts';
import { useHubClient } from '../../../client/use-hub.ts';
import { type Loaded, useLoaded } from '../../../composables/use-loaded.ts';

/** A search, live while the component exists. */
export function useDiscovery(id: string): Loaded<DiscoveryView> {
  const client = useHubClient();
  const loaded = useLoaded(async () => {
    // Watched first, so that nothing is missed in between.
    await client.hub.watchDiscovery(id);
    return client.hub.discovery(id);
  });
  const end = client.on('discoveryChanged', (changed) => {
    if (changed === id) void loaded.reload();
  });
  onScopeDispose(() => {
    end();
    // A hub that cannot be reached has no subscribers any more.
    client.hub.unwatchDiscovery(id).catch(() => undefined);
  });
  return loaded;
}
