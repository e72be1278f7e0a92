import type { z } from 'zod';

/**
 * What this browser remembers under a key; `fallback` where there is nothing, or nothing that fits: an earlier version of the
 * page may have written it, and a browser may forbid storage altogether.
 */
export function readStored<T>(key: string, schema: z.ZodType<T>, fallback: T): T {
  try {
    const text = localStorage.getItem(key);
    const parsed = schema.safeParse(text === null ? undefined : JSON.parse(text));
    return parsed.success ? parsed.data : fallback;
  } catch {
    return fallback;
  }
}

/** Remembers a value as long as the browser lets it: what is stored here is a convenience, never the user's work. */
export function store(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Storage is full or forbidden: the choice holds until the page is closed.
  }
}
