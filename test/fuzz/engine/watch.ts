import { Worker } from 'node:worker_threads';
import { SharedCase } from './shared-case.ts';
import type { ThreadReport, ThreadTask } from './thread.ts';

/** A case that runs longer hangs. Two orders of magnitude above the slowest case on a busy machine. */
const usualDeadlineMs = 20_000;
/** Loading and instrumenting the product takes seconds, on a busy machine a minute. */
const startDeadlineMs = 300_000;
const lookEveryMs = 500;
const heapMebibytes = 768;
const maximumInputBytes = 2 ** 22;

/**
 * Runs cases of a target in a thread with a limit on its memory. A case that hangs or ends the thread is a finding; a
 * new thread with another seed runs the remaining cases.
 */
export async function fuzzInThread(
  { cases, seed, ...where }: Omit<ThreadTask, 'shared'>,
  deadlineMs = usualDeadlineMs,
): Promise<ThreadReport> {
  const whole: ThreadReport = { cases: 0, reached: 0, corpus: 0, findings: [] };
  for (let attempt = 0; whole.cases < cases && attempt < 10; attempt += 1) {
    const task = { ...where, cases: cases - whole.cases, seed: seed + 1000 * attempt };
    const report = await runThread(task, deadlineMs);
    whole.cases += report.cases;
    whole.reached = Math.max(whole.reached, report.reached);
    whole.corpus = Math.max(whole.corpus, report.corpus);
    whole.findings.push(...report.findings);
  }
  return whole;
}

async function runThread(task: Omit<ThreadTask, 'shared'>, deadlineMs: number): Promise<ThreadReport> {
  const current = SharedCase.create(maximumInputBytes);
  const worker = new Worker(new URL('thread.ts', import.meta.url), {
    workerData: { ...task, shared: current.buffer },
    resourceLimits: { maxOldGenerationSizeMb: heapMebibytes },
  });
  const { promise, resolve } = Promise.withResolvers<ThreadReport>();
  const interrupted = (kind: 'hang' | 'crash', message: string): ThreadReport => ({
    cases: Math.max(1, current.count),
    reached: 0,
    corpus: 0,
    findings: [{ kind, message, bytes: current.bytes }],
  });
  worker.on('message', resolve);
  worker.on('error', (error: unknown) => {
    resolve(interrupted('crash', error instanceof Error ? (error.stack ?? error.message) : String(error)));
  });
  let [seenCount, sinceMs] = [-1, performance.now()];
  const timer = setInterval(() => {
    if (current.inputs !== seenCount) [seenCount, sinceMs] = [current.inputs, performance.now()];
    if (performance.now() - sinceMs < (seenCount === 0 ? startDeadlineMs : deadlineMs)) return;
    resolve(interrupted('hang', `One case took more than ${deadlineMs} ms.`));
  }, lookEveryMs);
  try {
    return await promise;
  } finally {
    clearInterval(timer);
    await worker.terminate();
  }
}
