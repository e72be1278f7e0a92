import { onScopeDispose, watch } from 'vue';
import { useRouter } from 'vue-router';
import { useHubClient } from '../client/use-hub.ts';
import { useSessionStore } from '../stores/session.ts';
import { useToastsStore } from '../stores/toasts.ts';

/** The pages of a watcher; the others start or change something. */
const watcherPages: ReadonlySet<unknown> = new Set(['runs', 'run', 'compare', 'studies', 'study', 'unknown']);

/** Reads what this page may do, and leads a watcher from pages that are not for watchers to the table of runs. */
export function useSessionPages(): void {
  const session = useSessionStore();
  const toasts = useToastsStore();
  const router = useRouter();
  const load = (): void => void toasts.attempt(() => session.load());
  onScopeDispose(useHubClient().on('returned', load));
  load();
  watch([() => session.isWatcher, router.currentRoute], async ([isWatcher, route]) => {
    if (isWatcher && !watcherPages.has(route.name)) await router.replace({ name: 'runs' });
  });
}
