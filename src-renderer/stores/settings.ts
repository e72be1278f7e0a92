import { defineStore } from 'pinia';
import { computed, type Ref, watch, type WritableComputedRef } from 'vue';
import { z } from 'zod';
import { useLocalStorage } from '@vueuse/core';

export const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

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

const preferencesSchema = z.record(z.string(), z.unknown());

interface ProjectPreferences {
  /** The value stored under a name; `fallback` where none is stored or it does not fit the schema. */
  get<T>(name: string, schema: z.ZodType<T>, fallback: T): T;
  set(name: string, value: unknown): void;
}

/**
 * What this browser remembers for one project, such as the order of its charts.
 * @param project the project's folder
 */
export function usePreferences(project: string): ProjectPreferences {
  return defineStore(`preferences/${project}`, () => {
    const values = useStored<Record<string, unknown>>(`tutti.preferences.${project}`, preferencesSchema, {});

    function get<T>(name: string, schema: z.ZodType<T>, fallback: T): T {
      const parsed = schema.safeParse(values.value[name]);
      return parsed.success ? parsed.data : fallback;
    }

    function set(name: string, value: unknown): void {
      values.value = { ...values.value, [name]: value };
    }

    return { values, get, set };
  })();
}

/**
 * A value that this browser keeps under a key, the same in all of its tabs. It starts as `fallback` where nothing is
 * stored, where something else is, and where the browser forbids storage: what is stored is a convenience, never the
 * user's work.
 */
export function useStored<T>(key: string, schema: z.ZodType<T>, fallback: T): Ref<T> {
  return useLocalStorage<T>(key, fallback, {
    writeDefaults: false,
    serializer: { read: (text) => readStored(text, schema, fallback), write: (value) => JSON.stringify(value) },
    // Storage is full or forbidden: the value lasts until the page is closed.
    onError: () => undefined,
  });
}

function readStored<T>(text: string, schema: z.ZodType<T>, fallback: T): T {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? fallback;
  } catch {
    return fallback;
  }
}
