import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { frameOfRequest, replyOfFrame, type ServeReply, type ServeRequest } from '../../core/ensemble/serving.ts';
import { channelOver, hubPipe } from '../../core/protocol/wire/channel.ts';
import type { EnsembleSource } from '../../core/protocol/run/checkpoint-tasks.ts';
import { explainSystemError } from '../../core/node/file-error.ts';
import { messageOf } from '../../core/text/errors.ts';
import { FrameError } from '../../core/protocol/wire/frames.ts';
import type { SourceToOpen } from '../predictions/ensemble-source.ts';
import { confinedEnvironment, confinementFlags } from '../processes/confined.ts';
import { dyingNode, serveEntry, startChild, workerFlags } from '../processes/node-process.ts';
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

/**
 * Starts the process that predicts, with what the project's processes get. On Linux with util-linux the kernel ends it
 * with the server.
 */
export function startModelProcess({ task, project, device }: SourceToOpen): ModelLink {
  const grant = grantFor({ project, read: [task.folder], device });
  const [program, ...before] = dyingNode();
  const start = (): ChildProcess =>
    spawn(program, [...before, ...workerFlags, ...confinementFlags(grant), serveEntry], {
      env: confinedEnvironment(grant, device, [hubPipe]),
      // The last is the pipe `hubPipe`. On Windows, pipes in both directions need `overlapped`; elsewhere it is the
      // same as `pipe`.
      stdio: ['ignore', 'pipe', 'pipe', 'overlapped'],
      // Ctrl-C in a terminal must reach the server alone, which still answers requests.
      detached: true,
      windowsHide: true,
    });
  return linkTo(startChild(program, start));
}

function linkTo(child: ChildProcess): ModelLink {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-keptOutput)));
  }
  let fault = '';
  /** Ends a process that cannot be talked to. */
  const fail = (reason: string): void => {
    fault ||= `; ${reason}`;
    child.kill('SIGKILL');
  };
  const ended = Promise.withResolvers<string>();
  child.once('error', (error) => ended.resolve(messageOf(explainSystemError(error))));
  child.once('close', (code, signal) => {
    const ending = signal === null ? `exit code ${code}` : `signal ${signal}`;
    ended.resolve(`${ending}${fault}${output.trim() === '' ? '' : `; it printed:\n${output.trim()}`}`);
  });
  const channel = channelOver(child.stdio[hubPipe] as Socket);
  // Other errors are those of a process that ends.
  channel.onClose((error) => error instanceof FrameError && fail(error.message));
  return {
    send(message) {
      // A closed channel is that of a process that ends, which is reported as such.
      if (channel.isOpen)
        channel.send('tensors' in message ? frameOfRequest(message) : { kind: 'message', message, arrays: [] });
    },
    onReply(receive) {
      channel.onFrame((frame) => {
        try {
          receive(replyOfFrame(frame));
        } catch (error) {
          fail(`it sent what the server does not know: ${messageOf(error)}`);
        }
      });
    },
    onEnd: (receive) => void ended.promise.then(receive),
    kill: () => void child.kill('SIGKILL'),
  };
}
