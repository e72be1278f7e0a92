import { setSourceMapsSupport } from 'node:module';
import { createInterface } from 'node:readline';
import { workerTaskSchema } from '../../core/protocol/run/messages.ts';
import { guardAgainstOrphaning } from '../session/orphan-guard.ts';
import { WorkerRun } from '../session/worker-run.ts';

/**
 * Entry of a worker process: connects to a run's hub, trains one rank, or several as one computation, and exits or,
 * where it stays, waits for the next run of the same project. The ranks may be of several runs, each with its own hub.
 * Started by `src-main/runs/workers/worker-child.ts`.
 */

// The ranks stand first, for people who list processes.
const [, stays, guard] = process.argv.slice(2);
let run: WorkerRun | null = null;

// SLURM sends them to all processes of a job that is near its time limit. The hub stops the run.
for (const signal of ['SIGUSR1', 'SIGUSR2']) process.on(signal, () => undefined);
if (guard === 'unguarded') guardAgainstOrphaning();
// Stacks name the places in the source of a compiled project.
setSourceMapsSupport(true, { nodeModules: false });
process.on('uncaughtException', (reason) => {
  console.error(reason);
  if (run === null) process.exit(1);
  run.fail(reason);
  void run.dismissed.then(() => process.exit(1));
});
// Other users see the command line, so the token comes through the input.
for await (const line of createInterface({ input: process.stdin })) {
  run = await WorkerRun.connect(workerTaskSchema.parse(JSON.parse(line)));
  await run.work();
  if (stays !== 'stays' || !run.vacate()) break;
  run = null;
}
process.exit(0);
