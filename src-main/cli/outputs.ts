import { messageOf } from '../../core/text/errors.ts';
import { exitCodes } from './errors.ts';

let failure: NodeJS.ErrnoException | null = null;
let isOptional = false;

/**
 * Keeps the process alive when its output fails: the disk is full, the terminal was closed, the reader has exited. A
 * command whose output was lost fails, unless only its reader has exited (`| head`).
 */
export function guardOutputs(): void {
  process.stdout.on('error', (error) => (failure ??= error));
  // Where stderr fails, there is nowhere left to say so.
  process.stderr.on('error', () => undefined);
  process.on('exit', (code) => {
    if (failure === null || failure.code === 'EPIPE' || isOptional || code !== exitCodes.finished) return;
    console.error(`error: The output was lost: ${messageOf(failure)}. Write it elsewhere.`);
    process.exitCode = exitCodes.failed;
  });
}

/**
 * Calls the listener once if stdout fails. The command's exit code then says how its run ended, and nothing about the
 * output.
 * @returns a function that unsubscribes
 */
export function onLostOutput(listener: (reason: string) => void): () => void {
  isOptional = true;
  const lose = (error: unknown): void => listener(messageOf(error));
  if (failure !== null) lose(failure);
  else process.stdout.once('error', lose);
  return () => void process.stdout.off('error', lose);
}
