import { fork } from 'node:child_process';
import { resolve } from 'node:path';
import type { DescribeReply, ProjectDescription } from '../../protocol/project-description.ts';
import { childEnvironment, describeEntry, nodeFlags } from './node-process.ts';

const timeoutMs = 30_000;

/**
 * Loads a project in a process of its own and returns what it says of itself.
 * @throws when the folder holds no project, or its code fails: with the project's own error
 */
export async function describeProject(folder: string): Promise<ProjectDescription> {
  const child = fork(describeEntry, [resolve(folder)], {
    execArgv: nodeFlags,
    env: childEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => output.push(chunk));
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  try {
    return await new Promise((succeed, fail) => {
      child.on('message', (reply: DescribeReply) => {
        if (reply.type === 'described') succeed(reply.description);
        else fail(new Error(reply.message));
      });
      child.on('error', fail);
      child.on('close', (code, signal) => {
        const ending = signal === null ? `exit code ${code}` : `signal ${signal}`;
        const said = Buffer.concat(output).toString().trim();
        fail(
          new Error(
            `The project in ${folder} could not be loaded (${ending}, limit ${timeoutMs} ms). It printed:\n${said}`,
          ),
        );
      });
    });
  } finally {
    clearTimeout(timer);
    // A project's own timers would keep it, and the hub with it, alive.
    child.kill('SIGKILL');
  }
}
