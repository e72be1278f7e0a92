import { defineStore } from 'pinia';
import { z } from 'zod';
import { useStored } from './use-stored.ts';

const preferencesSchema = z.record(z.string(), z.unknown());

export interface ProjectPreferences {
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
