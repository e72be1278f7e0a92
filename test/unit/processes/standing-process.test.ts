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
  expect(progress).toEqual([{ type: 'progress', questions: 1, doing: 'counting' }]);
  const second = await standing.ask({ ...rest, message: {}, progress: () => undefined });
  expect(second).toEqual({ type: 'answer', pid: first.pid, questions: 2 });
  const ending = standing.ask({ ...rest, message: { end: true } });
  await expect(ending).rejects.toThrow(
    /^No answer: its process ended without an answer, by exit code 3\. It printed:\ntold to end$/,
  );
  expect(standing.isRunning).toBe(false);
  await expect(standing.ask({ ...rest, message: {} })).rejects.toThrow('exit code 3');
});

it.each([
  { does: 'computes', message: { compute: true }, computed: /of which it computed (0\.[1-9]|[1-9]\d*(\.\d)?) s/ },
  { does: 'waits', message: { wait: true }, computed: /of which it computed 0(\.\d)? s/ },
])('says what a process did that $does when its limit had passed', async ({ message, computed }) => {
  const standing = new StandingProcess({ entry, args: [], grant: null });
  onTestFinished(() => standing.end());
  await standing.ask({ ...rest, message: {}, progress: () => undefined });
  const error = await standing
    .ask({ subject: 'No answer', timeoutMs: 200, remedy: 'Ask for less.', message })
    .catch((reason: Error) => reason);
  expect(error).toMatchObject({
    message: expect.stringMatching(
      /^No answer: its process was ended after [\d.]+ s.*, because it was still counting when its limit of 0\.2 s, without waiting for a processor, had passed\. Ask for less\. It printed nothing\.$/,
    ),
  });
  expect(error).toMatchObject({
    message: expect.stringMatching(process.platform === 'linux' ? computed : /computed 0 s/),
  });
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
