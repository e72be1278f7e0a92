import { useLocalStorage } from '@vueuse/core';
import type { Ref } from 'vue';
import type { z } from 'zod';

/**
 * A value that this browser keeps under a key, the same in all of its tabs. It starts as `fallback` where nothing is stored, where an
 * earlier version stored something else, and where the browser forbids storage: what is stored is a convenience, never the user's work.
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
