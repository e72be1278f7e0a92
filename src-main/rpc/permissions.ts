import type { HubApi, PageRole } from '../../core/protocol/pages/rpc.ts';

/**
 * What a watcher may call: what shows runs. It starts, changes and writes nothing, runs no code of projects, and reads no files but those of
 * runs. A new method is not in it, so it is denied until somebody decides otherwise.
 */
const watchable: ReadonlySet<keyof HubApi> = new Set<keyof HubApi>([
  'session',
  'runs',
  'runOverview',
  'runGroups',
  'runFields',
  'trends',
  'run',
  'series',
  'deviceLoads',
  'logs',
  'checkpoints',
  'forkPoints',
  'predictions',
  'predictionNames',
  'postprocessing',
  'studies',
  'study',
  'watchStudy',
  'unwatchStudy',
  'watch',
  'unwatch',
]);

export function mayCall(role: PageRole, method: keyof HubApi): boolean {
  return role === 'owner' || watchable.has(method);
}

/** @throws Error unless the page may call the method */
export function refuseCall(role: PageRole, method: keyof HubApi): void {
  if (mayCall(role, method)) return;
  throw new Error(`This link only lets you watch runs (${method} is not allowed). Ask whoever started Tutti to do it.`);
}
