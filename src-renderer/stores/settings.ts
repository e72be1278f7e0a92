import { defineStore } from 'pinia';
import { ref, watch } from 'vue';
import { z } from 'zod';
import { readStored, store } from '../composables/local-storage.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

interface Settings {
  theme: Theme;
  /** Whether the browser is to tell of runs that end; the desktop app always does. */
  isNotifying: boolean;
}
const settingsSchema = z.object({ theme: z.enum(themes), isNotifying: z.boolean().default(false) });
const initial: Settings = { theme: 'system', isNotifying: false };

/** What the user prefers on this machine, whichever project. */
export const useSettingsStore = defineStore('settings', () => {
  const stored = readStored<Settings>('tutti.settings', settingsSchema, initial);
  const theme = ref(stored.theme);
  const isNotifying = ref(stored.isNotifying);

  watch([theme, isNotifying], () => {
    store('tutti.settings', { theme: theme.value, isNotifying: isNotifying.value } satisfies Settings);
  });
  watch(
    theme,
    (chosen) => {
      if (chosen === 'system') delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = chosen;
    },
    { immediate: true },
  );
  return { theme, isNotifying };
});
