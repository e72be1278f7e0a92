import { Worker } from 'node:worker_threads';

const watch = `
const { parentPort, workerData } = require('node:worker_threads');
setInterval(() => { if (process.ppid !== workerData) process.kill(process.pid, 'SIGKILL'); }, 500);
`;

/**
 * Ends this process when its hub's process is gone. The closed socket tells that too, but only once the event loop turns: a
 * project's endless loop would outlive its run. So where the kernel does not see to it, a thread of its own watches the parent
 * (at a cost of some 10 MB).
 */
export function guardAgainstOrphaning(): void {
  const guard = new Worker(watch, {
    eval: true,
    workerData: process.ppid,
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2 },
  });
  guard.unref();
}
