import type { OptionDescription } from './describe.ts';

/** If no name is close, lists of at most this length are printed in full. */
const listedAtMost = 12;

/** The message for an unknown option, a flag (`--optimiser`) or a path (`earlyStoping.patience`), with suggestions. */
export function unknownOptionMessage(name: string, descriptions: readonly OptionDescription[]): string {
  const isFlag = name.startsWith('-');
  const names = [...new Set(descriptions.map((description) => (isFlag ? description.flag : description.path)))];
  const guesses = nearest(name, names);
  if (guesses.length > 0) return `There is no option ${name}. Did you mean ${guesses.join(' or ')}?`;
  if (names.length === 0) return `There is no option ${name}. Remove it.`;
  const remedy = names.length <= listedAtMost ? `The options are ${names.join(', ')}.` : '--help lists the options.';
  return `There is no option ${name}. ${remedy}`;
}

/**
 * The names (at most three) closest to a mistyped one, within two edits or one edit per three letters. A dotted name
 * also matches by its last part: `--learning-rate` for `--optimizer.learning-rate`.
 */
export function nearest(mistyped: string, names: readonly string[]): string[] {
  const typed = bare(mistyped);
  const distances = names.map((name) => ({ name, distance: distanceTo(typed, bare(name)) }));
  const least = Math.min(...distances.map(({ distance }) => distance));
  if (least > Math.max(2, Math.floor(typed.length / 3))) return [];
  return distances.flatMap(({ name, distance }) => (distance === least ? name : [])).slice(0, 3);
}

function bare(name: string): string {
  return name.replace(/^--?/, '').toLowerCase();
}

function distanceTo(typed: string, name: string): number {
  const lastPart = name.slice(name.lastIndexOf('.') + 1);
  return Math.min(editDistance(typed, name), editDistance(typed, lastPart));
}

/**
 * Fewest insertions, deletions and replacements of characters that turn one text into the other (Levenshtein, 1966).
 */
export function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = row[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j] + 1, next[j - 1] + 1));
    }
    row = next;
  }
  return row[to.length];
}
