import { AsyncLocalStorage } from 'node:async_hooks';
import { readingText, type TableReading } from '../../core/preprocessing/reading.ts';

/** What reading data told. */
interface Collected {
  notes: Set<string>;
  readings: TableReading[];
}

const collected = new AsyncLocalStorage<Collected>();
const printed = new Set<string>();

/**
 * Tells what reading data found or assumed, one sentence or more: a run's record and terminal have it before training.
 * Outside a run's `data()` it goes to the standard error output, once.
 */
export function noteData(message: string): void {
  const store = collected.getStore();
  if (store !== undefined) store.notes.add(message);
  else if (!printed.has(message)) {
    printed.add(message);
    console.warn(message);
  }
}

/** Tells how a table was read, within a run's `data()`. */
export function noteReading(reading: TableReading): void {
  const store = collected.getStore();
  store?.readings.push(reading);
  store?.notes.add(readingText(reading));
}

/** What `read` returns, the notes that it made, each once, and how it read tables. */
export async function withNotes<T>(read: () => Promise<T>) {
  const store: Collected = { notes: new Set(), readings: [] };
  const result = await collected.run(store, read);
  return { result, notes: [...store.notes], readings: store.readings };
}
