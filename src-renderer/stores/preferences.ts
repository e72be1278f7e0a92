import { defineStore } from 'pinia';
import { ref } from 'vue';
import { z } from 'zod';
import { readStored, store } from '../composables/local-storage.ts';

const preferencesSchema = z.record(z.string(), z.unknown());

/**
 * What is remembered for one project, such as the order of its charts: `get` gives it if it still fits the schema.
 * @param project the project's folder
 */
export function usePreferences(project: string): ProjectPreferences {
  return defineStore(`preferences/${project}`, () => {
    const key = `tutti.preferences.${project}`;
    const values = ref(readStored(key, preferencesSchema, {}));

    function get<T>(name: string, schema: z.ZodType<T>, fallback: T): T {
      const parsed = schema.safeParse(values.value[name]);
      return parsed.success ? parsed.data : fallback;
    }

    function set(name: string, value: unknown): void {
      values.value = { ...values.value, [name]: value };
      store(key, values.value);
    }

    return { values, get, set };
  })();
}

export interface ProjectPreferences {
  get<T>(name: string, schema: z.ZodType<T>, fallback: T): T;
  set(name: string, value: unknown): void;
}
