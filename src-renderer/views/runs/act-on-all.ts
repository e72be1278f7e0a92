import { messageOf } from '../../../core/text/errors.ts';

/** What became of an action on several runs. */
export interface Outcome<T> {
  done: T[];
  failed: { subject: T; message: string }[];
}

/** Does the same with each subject, one after the other: a failure stops none of the others. */
export async function actOnAll<T>(subjects: readonly T[], act: (subject: T) => Promise<unknown>): Promise<Outcome<T>> {
  const outcome: Outcome<T> = { done: [], failed: [] };
  for (const subject of subjects) {
    try {
      await act(subject);
      outcome.done.push(subject);
    } catch (error) {
      outcome.failed.push({ subject, message: messageOf(error) });
    }
  }
  return outcome;
}

/** `3 runs were archived.`, `wide was archived.` */
export function toldOf(names: readonly string[], what: string): string {
  return names.length === 1 ? `${names[0]} was ${what}.` : `${names.length} runs were ${what}.`;
}

/** Why some of the runs were left as they are; null if there are none. */
export function toldFailures(failed: Outcome<{ name: string }>['failed']): string | null {
  if (failed.length === 0) return null;
  const [first, ...others] = failed.map(({ subject, message }) => `${subject.name}: ${message}`);
  return others.length === 0 ? first : `${first}\nAnd ${others.length} more.`;
}

/** The tags of a run after some were added and others removed. */
export function retagged(tags: readonly string[], added: readonly string[], removed: readonly string[]): string[] {
  return [...new Set([...tags.filter((tag) => !removed.includes(tag)), ...added])];
}

/** The tags in a text, separated by commas. */
export function tagsIn(text: string): string[] {
  return [
    ...new Set(
      text
        .split(',')
        .map((tag) => tag.trim())
        .filter(Boolean),
    ),
  ];
}
