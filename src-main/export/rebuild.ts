import type { RunSource } from '../../core/protocol/run/checkpoint-tasks.ts';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import { askProcess } from '../processes/standing-process.ts';
import { sourceOfRun } from '../runs/configuration/run-source.ts';
import { grantFor } from '../trust/grant.ts';
import { whyNotTrusted } from '../trust/project-trust.ts';

/**
 * Time to rebuild models. If the run did not keep its model, this needs the project's data for the shapes, perhaps
 * after a download.
 */
const timeoutMs = 1_800_000;

/** What a process needs to rebuild the run's models. */
export function runSource(runFolder: string, record: RunRecord): Promise<RunSource> {
  // Most exports need nothing of the project: the run saved its models.
  return sourceOfRun(runFolder, record, whyNotTrusted(record.project.folder));
}

type Reply = { type: 'written' } | { type: 'failed'; message: string };

/**
 * Has a process rebuild models and write them to the task's folder.
 * @param subject the start of the error message if the process gives no answer
 * @throws Error with the reason if it fails
 */
export async function askToWrite<Answer extends Reply>(
  entry: string,
  task: RunSource & { into: string },
  subject: string,
): Promise<Extract<Answer, { type: 'written' }>> {
  const { projectRefusal, projectFolder, runFolder, into } = task;
  const grant = grantFor({
    project: projectRefusal === null ? projectFolder : null,
    read: [runFolder],
    write: [into],
  });
  const reply = await askProcess<Answer>({ entry, args: [], grant, message: task, timeoutMs, subject });
  if (reply.type === 'failed') throw new Error(reply.message);
  return reply as Extract<Answer, { type: 'written' }>;
}
