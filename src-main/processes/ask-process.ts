import { fork } from 'node:child_process';
import { TimeLimit } from '../../core/node/time-limit.ts';
import type { Device } from '../../core/protocol/machine/devices.ts';
import { confinedEnvironment, confinementFlags, type Grant } from './confined.ts';
import { childEnvironment, dyingNode, nodeFlags, workerFlags } from './node-process.ts';

/** Only the end of what a process prints is kept, in UTF-16 code units. */
const keptOutput = 2 ** 16;

export interface Question {
  /** Module that the process runs. It answers with one message. */
  entry: string;
  args: readonly string[];
  /** Sent to the process as it starts. */
  message?: object;
  timeoutMs: number;
  /** Receives messages of the type `progress`, which come before the answer and start the time anew. */
  progress?: (message: object) => void;
  /** Aborts the process. */
  signal?: AbortSignal;
  /** The start of the error message if the process gives no answer, such as "The project in ... could not be loaded". */
  subject: string;
  /** What it gets, because it runs a project's code; null for a process that only runs Tutti's own. */
  grant: Grant | null;
  /** The device that it computes on. */
  device?: Device;
  /** Variables in addition to those of every child process. */
  environment?: NodeJS.ProcessEnv;
}

/**
 * Starts a Node process for one question, and ends it after the answer. On Linux with util-linux the kernel ends it with the hub. The hub itself never loads a project's code.
 * @throws Error with the output of the process if it ends without an answer
 */
export async function askProcess<Answer extends object>(question: Question): Promise<Answer> {
  const { entry, args, message, timeoutMs, signal, subject, grant, device, environment, progress } = question;
  const [execPath, ...before] = dyingNode();
  const child = fork(entry, args, {
    execPath,
    execArgv: [...before, ...(grant === null ? nodeFlags : [...workerFlags, ...confinementFlags(grant)])],
    env: { ...(grant === null ? childEnvironment(device) : confinedEnvironment(grant, device)), ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // JSON cannot represent NaN.
    serialization: 'advanced',
    signal,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-keptOutput)));
  }
  const limit = new TimeLimit(timeoutMs, () => void child.kill('SIGKILL'));
  try {
    return await new Promise<Answer>((succeed, fail) => {
      child.on('message', (answer: Answer) => {
        if (progress === undefined || !('type' in answer) || answer.type !== 'progress') return succeed(answer);
        limit.restart();
        progress(answer);
      });
      child.on('error', fail);
      child.on('close', (code, signal) => {
        const ending = signal === null ? `exit code ${code}` : `signal ${signal}`;
        fail(new Error(`${subject} (${ending}, limit ${timeoutMs} ms). It printed:\n${output.trim()}`));
      });
      if (message !== undefined) child.send(message, (error) => error && fail(error));
    });
  } finally {
    limit.stop();
    // A project's timers would keep the process, and with it the hub, alive.
    child.kill('SIGKILL');
  }
}
