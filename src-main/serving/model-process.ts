import { type ChildProcess, fork } from 'node:child_process';
import type { ServeReply, ServeRequest } from '../../core/ensemble/serving.ts';
import type { EnsembleSource } from '../../core/protocol/run/checkpoint-tasks.ts';
import type { SourceToOpen } from '../predictions/ensemble-source.ts';
import { confinedEnvironment, confinementFlags } from '../processes/confined.ts';
import { dyingNode, serveEntry, workerFlags } from '../processes/node-process.ts';
import { grantFor } from '../trust/grant.ts';

/** The connection to a process that predicts. */
export interface ModelLink {
  send(message: EnsembleSource | ServeRequest): void;
  onReply(receive: (reply: ServeReply) => void): void;
  /** Called once, with the reason for people. */
  onEnd(ended: (reason: string) => void): void;
  kill(): void;
}

/** Only the end of what the process prints is kept, in UTF-16 code units. */
const keptOutput = 2 ** 14;

/** Starts the process that predicts, with what the project's processes get. On Linux with util-linux the kernel ends it with the server. */
export function startModelProcess({ task, project, device }: SourceToOpen): ModelLink {
  const grant = grantFor({ project, read: [task.folder], device });
  const [execPath, ...before] = dyingNode();
  const child = fork(serveEntry, [], {
    execPath,
    execArgv: [...before, ...workerFlags, ...confinementFlags(grant)],
    env: confinedEnvironment(grant, device),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // Arrays cross as bytes.
    serialization: 'advanced',
    // Ctrl-C in a terminal must reach the server alone, which still answers requests.
    detached: true,
  });
  return linkTo(child);
}

function linkTo(child: ChildProcess): ModelLink {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-keptOutput)));
  }
  const ended = Promise.withResolvers<string>();
  child.once('error', (error) => ended.resolve(error.message));
  child.once('close', (code, signal) => {
    const ending = signal === null ? `exit code ${code}` : `signal ${signal}`;
    ended.resolve(`${ending}${output.trim() === '' ? '' : `; it printed:\n${output.trim()}`}`);
  });
  return {
    // A failure to send is the end of the process, which is reported as such.
    send: (message) => void child.send(message, () => undefined),
    onReply: (receive) => void child.on('message', receive),
    onEnd: (receive) => void ended.promise.then(receive),
    kill: () => void child.kill('SIGKILL'),
  };
}
