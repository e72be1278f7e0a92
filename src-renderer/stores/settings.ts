import { defineStore } from 'pinia';
import { ref, watch } from 'vue';
import { z } from 'zod';
import { readStored, store } from '../composables/local-storage.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const settingsSchema = z.object({ theme: z.enum(themes) });

/** What the user prefers on this machine, whichever project. */
export const useSettingsStore = defineStore('settings', () => {
  const theme = ref<Theme>(readStored<{ theme: Theme }>('tutti.settings', settingsSchema, { theme: 'system' }).theme);

  watch(
    theme,
    (chosen) => {
      store('tutti.settings', { theme: chosen });
      if (chosen === 'system') delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = chosen;
    },
    { immediate: true },
  );
  return { theme };
});
