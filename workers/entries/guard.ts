import { workerData } from 'node:worker_threads';
import type { GuardData } from '../session/orphan-guard.ts';

/** Entry of the thread that kills its process when the parent process is gone (`session/orphan-guard.ts`). */

const intervalMs = 500;
const { parentPid } = workerData as GuardData;

setInterval(() => {
  if (process.ppid !== parentPid) process.kill(process.pid, 'SIGKILL');
}, intervalMs);
