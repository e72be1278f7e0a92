import { realpathSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A place in a project's code. Lines and columns count from 1. */
export interface ProjectPlace {
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
