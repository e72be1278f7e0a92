import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { printableLine } from '../../../core/text/printable.ts';
import type { ProjectPlace } from './project-place.ts';

/** Longer lines are cut around the column. */
const widestLine = 120;

/**
 * The line of a place with the lines before and after it, and a caret below its column:
 *
 *     30 |   const logits = outputs[0];
 *   > 31 |   return tf.losses.softmax(logits);
 *        |                    ^
 *
 * Null if the file cannot be read or has no such line.
 */
export function excerptOf({ file, line, column }: ProjectPlace, projectFolder: string): string | null {
  const lines = linesOf(join(projectFolder, file));
  const text = lines?.at(line - 1);
  if (lines === null || text === undefined) return null;
  const numbers = [line - 1, line, line + 1].filter((number) => number >= 1 && number <= lines.length);
  const width = String(numbers.at(-1)).length;
  const from = cutBefore(text, column);
  const shown = numbers.flatMap((number) => {
    const mark = number === line ? '>' : ' ';
    const row = `${mark} ${String(number).padStart(width)} | ${show(lines[number - 1], from)}`.trimEnd();
    return number === line && column !== null ? [row, `${' '.repeat(width + 2)} | ${caret(text, from, column)}`] : row;
  });
  return shown.join('\n');
}

function linesOf(path: string): string[] | null {
  try {
    return readFileSync(path, 'utf8').split(/\r?\n/);
  } catch {
    // The excerpt is a help: the place itself has been found.
    return null;
  }
}

function cutBefore(text: string, column: number | null): number {
  if (column === null || text.length <= widestLine) return 0;
  return Math.max(0, column - 1 - widestLine / 2);
}

function show(text: string, from: number): string {
  return printableLine(spaced(text).slice(from, from + widestLine));
}

/** Blanks up to the column. What is printed as an escape takes more than one character. */
function caret(text: string, from: number, column: number): string {
  return `${' '.repeat(printableLine(spaced(text).slice(from, column - 1)).length)}^`;
}

/** A tab takes one character, so that columns and characters agree. */
function spaced(text: string): string {
  return text.replaceAll('\t', ' ');
}
