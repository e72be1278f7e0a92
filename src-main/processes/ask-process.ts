import { type ProcessOptions, type Question, StandingProcess } from './standing-process.ts';

/**
 * Starts a Node process for one question, and ends it after the answer.
 * @throws Error with the output of the process if it ends without an answer
 */
export async function askProcess<Answer extends object>(question: ProcessOptions & Question): Promise<Answer> {
  question.signal?.throwIfAborted();
  const process = new StandingProcess(question);
  try {
    return await process.ask<Answer>(question);
  } finally {
    process.end();
  }
}
