import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Whether a program is installed. */
export function isOnPath(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
}
