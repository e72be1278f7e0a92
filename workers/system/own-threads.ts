import nodeModule from 'node:module';
import threads from 'node:worker_threads';

/** Node's class, also once {@link keepThreads} has taken it away. For Tutti's own modules. */
export const OwnThread = threads.Worker;

/** Whether this process may start threads, which its permissions decide. */
export function mayStartThreads(): boolean {
  return permissionOf()?.has('worker') ?? true;
}

/**
 * From now on Node gives no threads to a project that may start no programs. Its process may have some for kernels,
 * where the kernel limits them (`confine.ts`). Node's own limits do not hold in threads.
 */
export function keepThreads(): void {
  const permission = permissionOf();
  if (permission === undefined || permission.has('child')) return;
  Object.assign(threads, { Worker: refuseThread });
  nodeModule.syncBuiltinESMExports();
}

function refuseThread(): never {
  const message = 'A project starts no threads: its process has threads for kernels only. See docs/guarantees.md.';
  throw Object.assign(new Error(message), { code: 'ERR_ACCESS_DENIED', permission: 'WorkerThreads' });
}

/** Undefined without Node's permission model. */
function permissionOf(): typeof process.permission | undefined {
  return process.permission;
}
