import { resolve } from 'node:path';
import type { DescribeReply, ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import { askProcess } from '../../processes/ask-process.ts';
import { describeEntry } from '../../processes/node-process.ts';

/**
 * Loads a project in a process of its own and returns what it says of itself.
 * @throws when the folder holds no project, or its code fails: with the project's own error
 */
export async function describeProject(folder: string): Promise<ProjectDescription> {
  const reply = await askProcess<DescribeReply>({
    entry: describeEntry,
    args: [resolve(folder)],
    timeoutMs: 30_000,
    subject: `The project in ${folder} could not be loaded`,
  });
  if (reply.type === 'described') return reply.description;
  throw new Error(reply.message);
}
