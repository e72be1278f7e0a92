import { z } from 'zod';
import type { FuzzTarget } from './target.ts';

/** What is wrong with how a target read an input. */
export interface Finding {
  kind: 'unexpected error' | 'memory' | 'hang' | 'crash';
  message: string;
}

/** Fixed costs of a case (buffers of files, garbage), and what a byte of input may cost. */
const freeBytes = 64 * 2 ** 20;
const bytesPerInputByte = 256;

/** Runs one case. @returns null if the target returned or threw its own error */
export async function examine(target: FuzzTarget, bytes: Buffer): Promise<Finding | null> {
  const first = await measure(target, bytes);
  const limit = freeBytes + bytes.length * bytesPerInputByte;
  if (first.finding !== null || first.takenBytes <= limit) return first.finding;
  // A garbage collection between the two readings of the memory may also move the numbers: only what repeats counts.
  const { takenBytes } = await measure(target, bytes);
  if (takenBytes <= limit) return null;
  return {
    kind: 'memory',
    message: `${bytes.length} bytes of input took ${Math.round(takenBytes / 2 ** 20)} MiB of memory.`,
  };
}

async function measure(target: FuzzTarget, bytes: Buffer): Promise<{ finding: Finding | null; takenBytes: number }> {
  const before = memoryBytes();
  let finding: Finding | null = null;
  try {
    await target.run(bytes);
  } catch (error) {
    finding = judgeError(error);
  }
  return { finding, takenBytes: memoryBytes() - before };
}

/** Array buffers and heap. What was allocated and dropped is included until the next garbage collection. */
function memoryBytes(): number {
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return arrayBuffers + heapUsed;
}

/**
 * A module's own error is an `Error` that names the value and the rule. A `TypeError` or `RangeError` of the language,
 * a coded error of Node, or an error of a library that nobody explained shows that nobody expected this input.
 */
function judgeError(error: unknown): Finding | null {
  const unexpected = (why: string): Finding => ({
    kind: 'unexpected error',
    message: `${why}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  });
  if (!(error instanceof Error)) return unexpected('not an Error');
  const builtIn = [TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError].find(
    (type) => error instanceof type,
  );
  if (builtIn !== undefined) return unexpected(builtIn.name);
  if (error instanceof z.ZodError) return unexpected('an error of zod without the name of the file');
  if ('code' in error && typeof error.code === 'string' && /^(ERR_|CSV_|commander\.)/.test(error.code))
    return unexpected(error.code);
  if (error.message.trim() === '') return unexpected('an error without a message');
  return null;
}
