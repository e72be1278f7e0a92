import { defineStore } from 'pinia';
import { computed, watch, type WritableComputedRef } from 'vue';
import { z } from 'zod';
import { useStored } from './use-stored.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

interface Settings {
  theme: Theme;
  /** Whether the browser shows a notification when a run ends; the desktop app always does. */
  isNotifying: boolean;
}
const settingsSchema = z.object({ theme: z.enum(themes), isNotifying: z.boolean().default(false) });
const initial: Settings = { theme: 'system', isNotifying: false };

/** The user's settings in this browser, for all projects. */
export const useSettingsStore = defineStore('settings', () => {
  const stored = useStored<Settings>('tutti.settings', settingsSchema, initial);
  const setting = <K extends keyof Settings>(name: K): WritableComputedRef<Settings[K]> =>
    computed({
      get: () => stored.value[name],
      set: (value) => (stored.value = { ...stored.value, [name]: value }),
    });
  const theme = setting('theme');

  watch(
    theme,
    (chosen) => {
      if (chosen === 'system') delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = chosen;
      window.tutti?.useTheme(chosen);
    },
    { immediate: true },
  );
  return { theme, isNotifying: setting('isNotifying') };
});
