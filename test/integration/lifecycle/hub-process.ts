import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Hub } from '../../../src-main/hub/hub.ts';
import type { RunUpdate } from '../../../core/protocol/pages/run-updates.ts';
import { NothingLeftError } from '../../../src-main/runs/attempt/resume-run.ts';
import type { RunSession } from '../../../src-main/runs/attempt/run-session.ts';

/**
 * A hub in a separate process, for tests that kill it: `hub-process.ts <project folder> <run folder> <configuration>`.
 * It resumes the run if the folder holds one. Prints one line of JSON for each worker message, batch of points, the
 * first step of a rank, each recorded evaluation and the end.
 */

const [projectFolder, folder, config] = process.argv.slice(2);
const stepping = new Set<number>();
const hub = await Hub.open();
const session = await open();
const ended = session === null ? 'finished' : (await session.run()).status;
hub.close();
print({ ended });

/** Null: the hub before was killed after the run had finished, so that nothing is left to resume. */
async function open(): Promise<RunSession | null> {
  if (existsSync(join(folder, 'run.json'))) {
    return hub.resume(folder, {}, tell).catch((error: unknown) => {
      if (error instanceof NothingLeftError) return null;
      throw error;
    });
  }
  const project = await hub.describe(projectFolder);
  const overrides = [JSON.parse(config) as Record<string, unknown>];
  return hub.start(await hub.planRun({ projectFolder, folder, overrides }, project), tell);
}

function tell(update: RunUpdate): void {
  if (update.type === 'worker') {
    if (update.state !== 'training') stepping.delete(update.rank);
    print({ rank: update.rank, pid: update.pid, state: update.state });
  }
  if (update.type === 'progress' && !stepping.has(update.rank)) {
    stepping.add(update.rank);
    print({ rank: update.rank, steppedTo: update.step });
  }
  if (update.type === 'points') print({ reportedStep: Math.max(...update.batch.step) });
  if (update.type === 'points' && update.batch.names.includes('val/ens_nll'))
    print({ evaluatedStep: update.batch.step.at(-1) });
}

function print(line: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
