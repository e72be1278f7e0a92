import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../core/text/errors.ts';
import { describePlace, projectPlace, type ProjectPlace } from './project-place.ts';
import { printableLine } from '../../core/text/printable.ts';

/** Where a project's code raised an error. */
export interface ErrorSource {
  /** `project.ts:31:12`, with line and column. */
  source?: string;
  /** The lines there, with a caret. */
  excerpt?: string;
}

/**
 * A stack of TensorFlow.js can be deeper than the 10 frames that V8 keeps, and the project's frames are its last ones.
 */
const keptFrames = 60;

/** From now on stacks reach from the kernels to the project's code. */
export function keepDeepStacks(): void {
  Error.stackTraceLimit = keptFrames;
}

/**
 * Where the project raised an error or one of its causes, innermost first, because Tutti's own errors wrap those of
 * projects. Empty if the project did not raise it.
 */
export function sourceOf(error: unknown, projectFolder: string): ErrorSource {
  for (const { stack = '' } of causesOf(error).toReversed()) {
    const place = projectPlace(stack, projectFolder);
    if (place === null) continue;
    const excerpt = excerptOf(place, projectFolder);
    return { source: describePlace(place), ...(excerpt === null ? {} : { excerpt }) };
  }
  return {};
}

/** The error's message, followed by the place in the project's code that raised it, and its lines. */
export function explainError(error: unknown, projectFolder: string): string {
  const { source, excerpt } = sourceOf(error, projectFolder);
  return [
    messageOf(error),
    ...(source === undefined ? [] : [`at ${source}`]),
    ...(excerpt === undefined ? [] : [excerpt]),
  ].join('\n');
}

/** The stacks of an error and its causes, for logs. */
export function stackOf(error: unknown): string {
  const causes = causesOf(error);
  if (causes.length === 0) return String(error);
  return causes.map(({ stack, message }) => stack ?? message).join('\ncaused by: ');
}

/** The error and the errors that caused it, outermost first. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let cause = error; cause instanceof Error && !causes.includes(cause); cause = cause.cause) causes.push(cause);
  return causes;
}

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
