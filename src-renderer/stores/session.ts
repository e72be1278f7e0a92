import { defineStore } from 'pinia';
import { computed, shallowRef } from 'vue';
import type { PageSession } from '../../core/protocol/pages/rpc.ts';
import { useHubClient } from '../client/use-hub.ts';

/** What this page may do. The hub refuses the rest anyway; pages hide what it would refuse. */
export const useSessionStore = defineStore('session', () => {
  const client = useHubClient();
  const session = shallowRef<PageSession | null>(null);

  async function load(): Promise<void> {
    session.value = await client.hub.session();
  }

  const isWatcher = computed(() => session.value?.role === 'watcher');
  /** False until the hub has answered, and in a report. */
  const isOwner = computed(() => session.value?.role === 'owner');
  const canInvite = computed(() => session.value?.canInvite === true);
  const program = computed(() => session.value?.program ?? 'tutti');
  return { isWatcher, isOwner, canInvite, program, load };
});

/** The state of the connection to the hub. */
export const useConnectionStore = defineStore('connection', () => {
  const client = useHubClient();
  const state = shallowRef(client.state);
  client.on('stateChanged', (changed) => (state.value = changed));

  const isConnected = computed(() => state.value.kind === 'connected');
  return { state, isConnected, retryNow: () => client.retryNow() };
});
