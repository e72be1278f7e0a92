import { readFileSync, realpathSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { messageOf } from '../../core/text/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { fileURLToPath } from 'node:url';

/** A place in a project's code. Lines and columns count from 1. */
interface ProjectPlace {
  /** Relative to the project's folder, with `/`. */
  file: string;
  line: number;
  /** Null where only the line is known. */
  column: number | null;
}

/** The end of a line of a stack: `(file:///home/me/project/project.ts:31:12)` or the bare path. */
const frame = /(file:\/\/.*|\/.*|[A-Za-z]:\\.*):(\d+):(\d+)\)?$/;
/** The first line of the stack of an error of syntax, `/home/me/project/project.ts:31`. */
const heading = /^(file:\/\/.*|\/.*|[A-Za-z]:\\.*):(\d+)$/;
/** What underlines the wrong part of a line in such a stack. */
const underline = /^\s*\^+\s*$/;

/**
 * The first place of an error's stack that lies in the project's folder; null if none does. Node keeps the lines of
 * TypeScript, and maps those of compiled files that have a source map.
 */
export function projectPlace(stack: string, projectFolder: string): ProjectPlace | null {
  const root = realpathSync(projectFolder);
  const lines = stack.split('\n');
  const [, location, row] = heading.exec(lines[0].trimEnd()) ?? [];
  const wrong = location === undefined ? null : fileInside(root, location);
  if (wrong !== null) {
    const caret = lines.find((line) => underline.test(line));
    return { file: wrong, line: Number(row), column: caret === undefined ? null : caret.indexOf('^') + 1 };
  }
  for (const line of lines) {
    const [, address, atLine, atColumn] = frame.exec(line.trimEnd()) ?? [];
    const file = address === undefined ? null : fileInside(root, address);
    if (file !== null) return { file, line: Number(atLine), column: Number(atColumn) };
  }
  return null;
}

/** `project.ts:31:12`. */
export function describePlace({ file, line, column }: ProjectPlace): string {
  return [file, line, ...(column === null ? [] : [column])].join(':');
}

/** The path of a file in the project, relative to its folder; null for other files and packages. */
function fileInside(root: string, location: string): string | null {
  const path = location.startsWith('file:') ? pathOf(location.split('?')[0]) : location;
  if (path === null) return null;
  const file = relative(root, path);
  const isInside = file !== '' && !file.startsWith('..') && !isAbsolute(file) && !file.includes('node_modules');
  return isInside ? file.replaceAll('\\', '/') : null;
}

/** Null for an address that names no file of this machine: a message may contain one. */
function pathOf(address: string): string | null {
  try {
    return fileURLToPath(address);
  } catch {
    return null;
  }
}

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
