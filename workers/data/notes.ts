import { AsyncLocalStorage } from 'node:async_hooks';

const collected = new AsyncLocalStorage<Set<string>>();
const printed = new Set<string>();

/**
 * Tells what reading data found or assumed, one sentence or more: a run's record and terminal have it before training. Outside a run's `data()` it goes to
 * the standard error output, once.
 */
export function noteData(message: string): void {
  const notes = collected.getStore();
  if (notes === undefined && !printed.has(message)) console.warn(message);
  (notes ?? printed).add(message);
}

/** What `read` returns, and the notes that it made, each once. */
export async function withNotes<T>(read: () => Promise<T>): Promise<{ result: T; notes: string[] }> {
  const notes = new Set<string>();
  const result = await collected.run(notes, read);
  return { result, notes: [...notes] };
}
