import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { errorCode, explainFileError } from './file-error.ts';

/**
 * The `build.json` that `tutti setup` writes beside a backend's libraries; null where the backend is not set up.
 * @param remedy the sentence that says how to set the backend up again
 * @throws Error naming the file, what is wrong with it, and the remedy
 */
export function readBuildFile<Build>(folder: string, schema: z.ZodType<Build>, remedy: string): Build | null {
  const file = join(folder, 'build.json');
  const text = readIfPresent(file);
  if (text === null) return null;
  const damaged = (finding: string, cause: unknown): Error =>
    new Error(`${file} is damaged: ${finding}. ${remedy}`, { cause });
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) throw damaged(`it is not JSON (${error.message})`, error);
    if (error instanceof z.ZodError) throw damaged(z.prettifyError(error).replaceAll(/\s+/g, ' '), error);
    throw error;
  }
}

function readIfPresent(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw explainFileError(error, file, 'read');
  }
}
