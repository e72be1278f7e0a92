import { onScopeDispose, shallowRef, watch, watchEffect } from 'vue';
import { useRoute, useRouter } from 'vue-router';
import { useHub, useHubClient } from '../client/use-hub.ts';
import { useSessionStore } from '../stores/session.ts';
import { useToastsStore } from '../stores/toasts.ts';
import { endedIds, noticeOfEnd, type RunNotice } from '../../core/protocol/pages/window.ts';
import { useRunsStore } from '../stores/lists.ts';
import { useSettingsStore } from '../stores/settings.ts';

/** What the current page names; null where the title of its route says enough. */
const named = shallowRef<(() => string | null) | null>(null);

/** Names what a page shows in the window's title while the page lives. */
export function useTitle(name: () => string | null): void {
  named.value = name;
  // The next page may have named itself already.
  onScopeDispose(() => {
    if (named.value === name) named.value = null;
  });
}

/** Keeps the window's title: "blobs, 4 members · epoch 12/200 – Tutti", or "Runs – Tutti". */
export function useWindowTitle(): void {
  const route = useRoute();
  watchEffect(() => {
    document.title = `${named.value?.() ?? route.meta.title ?? 'Loading'} – Tutti`;
  });
}

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

/** Whether the browser shows notifications; the desktop app shows its own, also without a window. */
export const canBrowserNotify = window.tutti === undefined && 'Notification' in window;

/** Shows a browser notification when a run ends, if the user turned notifications on. */
export function useRunNotifications(): void {
  if (!canBrowserNotify) return;
  const router = useRouter();
  const runs = useRunsStore();
  const settings = useSettingsStore();
  const toasts = useToastsStore();
  const hub = useHub();

  function tell({ id, title, body }: RunNotice): void {
    // Every tab notifies; notifications with the same tag replace each other.
    const notification = new Notification(title, { body, tag: id });
    notification.addEventListener('click', () => {
      window.focus();
      void router.push({ name: 'run', params: { id } });
    });
  }

  watch(
    () => runs.overview,
    (now, before) => {
      const isOn = settings.isNotifying && Notification.permission === 'granted';
      const ids = isOn && now !== null && before !== null ? endedIds(before.active, now.active) : [];
      if (ids.length > 0)
        void toasts.attempt(async () => (await hub.runs({ ids })).rows.map(noticeOfEnd).forEach(tell));
    },
  );
}
