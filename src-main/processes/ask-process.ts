import { fork } from 'node:child_process';
import type { Device } from '../../core/protocol/machine/devices.ts';
import { childEnvironment, nodeBinary, nodeFlags } from './node-process.ts';

export interface Question {
  /** Module that the process runs; it answers with one message. */
  entry: string;
  args: readonly string[];
  /** Sent to the process as it starts. */
  message?: object;
  timeoutMs: number;
  /** Ends the process early. */
  signal?: AbortSignal;
  /** What the process is for, as the subject of "could not be loaded", "did not answer". */
  subject: string;
  /** What it computes on. */
  device?: Device;
  /** Set beside the environment that every child has. */
  environment?: NodeJS.ProcessEnv;
}

/**
 * Starts a Node process that answers one question, and ends it. The hub itself never loads a project's code.
 * @throws when it ends or is ended without an answer, with what it printed
 */
export async function askProcess<Answer extends object>(question: Question): Promise<Answer> {
  const { entry, args, message, timeoutMs, signal, subject, device, environment } = question;
  const child = fork(entry, args, {
    execPath: nodeBinary,
    execArgv: nodeFlags,
    env: { ...childEnvironment(device), ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // JSON would lose NaN.
    serialization: 'advanced',
    signal,
    killSignal: 'SIGKILL',
  });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => output.push(chunk));
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  try {
    return await new Promise<Answer>((succeed, fail) => {
      child.on('message', (answer: Answer) => succeed(answer));
      child.on('error', fail);
      child.on('close', (code, signal) => {
        const ending = signal === null ? `exit code ${code}` : `signal ${signal}`;
        const said = Buffer.concat(output).toString().trim();
        fail(new Error(`${subject} (${ending}, limit ${timeoutMs} ms). It printed:\n${said}`));
      });
      if (message !== undefined) child.send(message, (error) => error && fail(error));
    });
  } finally {
    clearTimeout(timer);
    // A project's own timers would keep it, and the hub with it, alive.
    child.kill('SIGKILL');
  }
}
