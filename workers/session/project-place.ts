import { realpathSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The end of a line of a stack: `(file:///home/me/project/project.ts:31:12)` or the bare path. */
const frame = /(file:\/\/.*|\/.*|[A-Za-z]:\\.*):(\d+):(\d+)\)?$/;

/**
 * The first place of an error's stack that lies in the project's folder: `project.ts:31:12`, with file, line and column; null if none does.
 * Node keeps the lines of TypeScript, and maps those of compiled files that have a source map.
 */
export function projectPlace(stack: string, projectFolder: string): string | null {
  const root = realpathSync(projectFolder);
  for (const line of stack.split('\n')) {
    const [, location, row, column] = frame.exec(line.trimEnd()) ?? [];
    if (location === undefined) continue;
    const file = relative(root, location.startsWith('file:') ? fileURLToPath(location.split('?')[0]) : location);
    const isInside = file !== '' && !file.startsWith('..') && !isAbsolute(file) && !file.includes('node_modules');
    if (isInside) return `${file.replaceAll('\\', '/')}:${row}:${column}`;
  }
  return null;
}
