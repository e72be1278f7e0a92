import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomic } from '../../core/node/atomic-file.ts';
import { errorCode } from '../../core/node/file-error.ts';
import { type WorkersReply, workersReplySchema } from '../../core/protocol/run/workers.ts';
import { homePaths } from '../store/home.ts';

/** What was measured of workers, the newest last, in the cache of Tutti's home. */
const keptSchema = z.array(z.strictObject({ key: z.string(), reply: workersReplySchema }));
type Kept = z.output<typeof keptSchema>;

const mostKept = 500;

/** Null where nothing was measured yet. */
export async function readMeasurement(key: string): Promise<WorkersReply | null> {
  return (await readKept()).find((kept) => kept.key === key)?.reply ?? null;
}

/** Where the home cannot be written, it is measured again next time. */
export async function keepMeasurement(key: string, reply: WorkersReply): Promise<void> {
  const others = (await readKept()).filter((kept) => kept.key !== key);
  const kept = [...others, { key, reply }].slice(-mostKept);
  try {
    await mkdir(dirname(keptPath()), { recursive: true });
    await writeFileAtomic(keptPath(), `${JSON.stringify(kept)}\n`);
  } catch (error) {
    if (errorCode(error) === null) throw error;
  }
}

function keptPath(): string {
  return join(homePaths().cache, 'workers.json');
}

/** Empty if there is no file that this version can read. */
async function readKept(): Promise<Kept> {
  try {
    return keptSchema.parse(JSON.parse(await readFile(keptPath(), 'utf8')));
  } catch (error) {
    if (errorCode(error) !== null || error instanceof SyntaxError || error instanceof z.ZodError) return [];
    throw error;
  }
}
