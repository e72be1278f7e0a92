import { tutti } from '../../../core/text/program.ts';
import type { WaitingRun } from '../../../core/protocol/pages/runs/run-queue.ts';
import { printableLine } from '../../../core/text/printable.ts';
import { changeQueue, readQueue } from '../../campaigns/queue-work.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { withHub } from '../open-hub.ts';
import { lookOf } from '../look.ts';
import { renderTable } from '../table.ts';

export interface QueueOptions {
  remove?: string;
}

const columns = [
  { title: '#', right: true },
  { title: 'id' },
  { title: 'name', least: 12 },
  { title: 'project', least: 12, dispensable: 1 },
  { title: 'state', least: 8 },
];

/** `tutti queue`: lists the waiting runs, or removes one. @returns the exit code */
export function queue({ remove }: QueueOptions): Promise<number> {
  return withHub(async () => {
    if (remove !== undefined) {
      await changeQueue((runs) => without(runs, remove));
      process.stdout.write(`${remove} waits no more.\n`);
      return exitCodes.finished;
    }
    for (const line of describeQueue(await readQueue())) process.stdout.write(`${line}\n`);
    return exitCodes.finished;
  });
}

function describeQueue(runs: readonly WaitingRun[]): string[] {
  if (runs.length === 0)
    return [`No run waits. \`${tutti} train <project> --queue\` lets one wait until no other run trains.`];
  const rows = runs.map((run, place) => [
    String(place + 1),
    run.id,
    printableLine(run.name),
    printableLine(run.request.projectFolder),
    stateOf(run),
  ]);
  return renderTable(columns, rows, lookOf(process.stdout));
}

function stateOf({ error, startedAt }: WaitingRun): string {
  if (error !== null) return `could not start: ${printableLine(error)}`;
  return startedAt === null ? 'waits' : 'starts';
}

function without(runs: WaitingRun[], id: string): WaitingRun[] {
  if (runs.some((run) => run.id === id)) return runs.filter((run) => run.id !== id);
  throw new UsageError(`No run "${id}" waits. \`tutti queue\` lists those that do.`);
}
