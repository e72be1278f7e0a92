import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { StandingProcess } from '../../../src-main/processes/standing-process.ts';

const entry = fileURLToPath(new URL('counting.ts', import.meta.url));
const rest = { timeoutMs: 60_000, subject: 'No answer' };

it('answers several questions by one process, until it ends', async () => {
  const standing = new StandingProcess({ entry, args: [], grant: null });
  onTestFinished(() => standing.end());
  const progress: object[] = [];
  const first = await standing.ask<{ pid: number }>({ ...rest, message: {}, progress: (one) => progress.push(one) });
  expect(progress).toEqual([{ type: 'progress', questions: 1 }]);
  const second = await standing.ask({ ...rest, message: {}, progress: () => undefined });
  expect(second).toEqual({ type: 'answer', pid: first.pid, questions: 2 });
  const ending = standing.ask({ ...rest, message: { end: true } });
  await expect(ending).rejects.toThrow(/^No answer \(exit code 3, limit 60000 ms\)\. It printed:\ntold to end$/);
  expect(standing.isRunning).toBe(false);
  await expect(standing.ask({ ...rest, message: {} })).rejects.toThrow('exit code 3');
});

it('ends when a question is aborted', async () => {
  const standing = new StandingProcess({ entry, args: [], grant: null });
  onTestFinished(() => standing.end());
  const aborting = new AbortController();
  const asked = standing.ask({ ...rest, signal: aborting.signal });
  aborting.abort();
  await expect(asked).rejects.toThrow('aborted');
  expect(standing.isRunning).toBe(false);
});
