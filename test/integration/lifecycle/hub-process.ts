import { Hub } from '../../../src-main/hub/hub.ts';
import type { RunUpdate } from '../../../core/protocol/pages/run-updates.ts';

/**
 * A hub in a separate process, for tests that kill it: `hub-process.ts <project folder> <run folder> <configuration>`. Prints one line of
 * JSON for each worker message and each recorded evaluation.
 */

const [projectFolder, folder, config] = process.argv.slice(2);
const hub = await Hub.open();
const project = await hub.describe(projectFolder);
const overrides = [JSON.parse(config) as Record<string, unknown>];
const session = hub.start(await hub.planRun({ projectFolder, folder, overrides }, project), tell);
await session.run();
hub.close();

function tell(update: RunUpdate): void {
  if (update.type === 'worker') print({ rank: update.rank, pid: update.pid, state: update.state });
  if (update.type === 'points' && update.batch.names.includes('val/ens_nll'))
    print({ evaluatedStep: update.batch.step.at(-1) });
}

function print(line: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
