import { inject, type InjectionKey } from 'vue';
import type { HubApi } from '../../core/protocol/pages/hub-methods.ts';
import type { HubClient } from './hub-client.ts';

/** The app's one connection to the hub, provided by `main.ts`. */
export const hubClientKey: InjectionKey<HubClient> = Symbol('hub client');

/** The hub client with its state and events, for components, composables and stores. */
export function useHubClient(): HubClient {
  const client = inject(hubClientKey);
  if (client === undefined) throw new Error('No hub client was provided to this app.');
  return client;
}

/** The hub's methods. */
export function useHub(): HubApi {
  return useHubClient().hub;
}
