import { workerData } from 'node:worker_threads';
import { type GuardData, hasParent } from '../session/orphan-guard.ts';

/** Entry of the thread that kills its process soon after the parent process has gone (`session/orphan-guard.ts`). */

const intervalMs = 500;
/** The time in which the worker may save its state. */
const graceMs = 4_000;
const { parentPid } = workerData as GuardData;

const watch = setInterval(() => {
  if (hasParent(parentPid)) return;
  clearInterval(watch);
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), graceMs);
}, intervalMs);
