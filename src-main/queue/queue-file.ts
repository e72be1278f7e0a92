import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { writeFileAtomic } from '../../core/node/atomic-file.ts';
import { explainFileError, unlessMissing } from '../../core/node/file-error.ts';
import { queueFileSchema, type WaitingRun } from '../../core/protocol/pages/runs/run-queue.ts';
import { toJson } from '../../core/protocol/wire/numbers.ts';
import { homePaths, tuttiHome } from '../store/home.ts';
import { withRunLock } from '../store/runs/run-lock.ts';

/** The waiting runs, in the order in which they start. @throws Error if the file is damaged */
export async function readQueue(): Promise<WaitingRun[]> {
  const { queue } = homePaths();
  let text: string | null;
  try {
    text = await unlessMissing(readFile(queue, 'utf8'));
  } catch (error) {
    throw explainFileError(error, queue, 'read');
  }
  if (text === null) return [];
  try {
    return queueFileSchema.parse(JSON.parse(text)).runs;
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(
      `The queue of waiting runs ${queue} is damaged: ${reason}\nCorrect it, or remove it: the runs in it then wait no more.`,
      { cause: error },
    );
  }
}

/** Changes the queue while no other process does. @returns the new queue */
export function changeQueue(change: (runs: WaitingRun[]) => WaitingRun[]): Promise<WaitingRun[]> {
  return withRunLock(tuttiHome(), async () => {
    const before = await readQueue();
    const after = change(before);
    if (after !== before) await writeFileAtomic(homePaths().queue, `${toJson({ format: 1, runs: after }, 2)}\n`);
    return after;
  });
}
