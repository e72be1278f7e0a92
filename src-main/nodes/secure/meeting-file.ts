import { createHash } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomic } from '../../../core/node/atomic-file.ts';
import { errorCode, explainFileError, rereadStale } from '../../../core/node/file-error.ts';
import { homePaths } from '../../store/home.ts';

/**
 * Where the tasks of a launch find the first one. It lies in Tutti's home, which only its owner can enter, because of
 * the token.
 */
const meetingSchema = z.strictObject({
  format: z.literal(1),
  job: z.string(),
  hosts: z.array(z.string()).min(1),
  port: z.int().min(1),
  token: z.string(),
  /** Node and process of the first task. */
  node: z.string(),
  pid: z.int(),
});
export type Meeting = z.output<typeof meetingSchema>;

/** The name of a launch's file. Jobs of all launchers have different keys. */
export function meetingPath(job: string): string {
  return join(homePaths().launches, `${createHash('sha256').update(job).digest('hex').slice(0, 24)}.json`);
}

/** Replaces what an earlier launch of the same job left. */
export async function writeMeeting(meeting: Meeting): Promise<void> {
  await mkdir(homePaths().launches, { recursive: true, mode: 0o700 });
  await writeFileAtomic(meetingPath(meeting.job), `${JSON.stringify(meeting)}\n`);
}

/** Null where the first task has not written it yet. @throws Error if it cannot be read or is damaged */
export async function readMeeting(job: string): Promise<Meeting | null> {
  const path = meetingPath(job);
  let text: string;
  try {
    text = await rereadStale(() => readFile(path, 'utf8'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw explainFileError(error, path, 'read');
  }
  const parsed = meetingSchema.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  throw new Error(`${path} is damaged, or of another version of Tutti. Remove it, and start the job again.`);
}

export async function removeMeeting(job: string): Promise<void> {
  await rm(meetingPath(job), { force: true });
}
