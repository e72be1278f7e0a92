import { watch } from 'vue';
import { useRouter } from 'vue-router';
import { endedIds, noticeOfEnd, type RunNotice } from '../../core/protocol/pages/window.ts';
import { useRunsStore } from '../stores/runs.ts';
import { useSettingsStore } from '../stores/settings.ts';
import { useToastsStore } from '../stores/toasts.ts';
import { useHub } from '../client/use-hub.ts';

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
