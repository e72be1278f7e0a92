import { defineStore } from 'pinia';
import { computed, shallowRef } from 'vue';
import { useHubClient } from '../client/use-hub.ts';

/** The state of the connection to the hub. */
export const useConnectionStore = defineStore('connection', () => {
  const client = useHubClient();
  const state = shallowRef(client.state);
  client.on('stateChanged', (changed) => (state.value = changed));

  const isConnected = computed(() => state.value.kind === 'connected');
  return { state, isConnected, retryNow: () => client.retryNow() };
});
