import { AsyncLocalStorage } from 'node:async_hooks';
import type { Finding } from '../../core/preprocessing/profile.ts';
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

/** What has two readings that are equally good, or none. */
export interface Doubt extends Omit<Finding, 'level'> {
  /** What the user can do, for an error. */
  remedy: string;
}

/**
 * The questions about a file that is only inspected with what was assumed, and the function that is told what is done.
 */
interface Inspection {
  questions: Finding[];
  tell: (doing: string) => void;
}

const inspected = new AsyncLocalStorage<Inspection>();

/** Tells what is done, while a file is inspected. @param doing for people: `35 % read` */
export function tellDoing(doing: string): void {
  inspected.getStore()?.tell(doing);
}

/**
 * Refuses a file that cannot be understood without its user. While it is only inspected, the doubts become questions,
 * and the caller goes on with what it assumes.
 * @param title of the list of several
 * @throws Error with all doubts, unless there are none
 */
export function refuseDoubts(title: string, doubts: readonly Doubt[]): void {
  const inspection = inspected.getStore();
  if (inspection === undefined) {
    throwProblems(
      title,
      doubts.map(({ message, remedy }) => `${message} ${remedy}`),
    );
    return;
  }
  for (const { kind, column, message, choices, option } of doubts) {
    inspection.questions.push({ level: 'question', kind, column, message, choices, option });
  }
}

/** Tells what was assumed of a file, and is probably right. While it is only inspected, that is a finding. */
export function noteAssumed(finding: Omit<Finding, 'level' | 'choices'>): void {
  const inspection = inspected.getStore();
  if (inspection === undefined) noteData(finding.message);
  else inspection.questions.push({ level: 'note', choices: null, ...finding });
}

/**
 * What `read` returns, and the questions about which a reading for training would have failed.
 * @param tell called with what is done, for people
 */
export async function withQuestions<T>(
  read: () => Promise<T>,
  tell: (doing: string) => void = () => undefined,
): Promise<{ result: T; questions: Finding[] }> {
  const questions: Finding[] = [];
  const result = await inspected.run({ questions, tell }, read);
  return { result, questions };
}

/** @throws Error with all problems, in a list below `title` where there are several */
export function throwProblems(title: string, problems: readonly string[]): void {
  if (problems.length === 0) return;
  throw new Error(
    problems.length === 1 ? problems[0] : `${title}${problems.map((problem) => `\n- ${problem}`).join('')}`,
  );
}
