import { type BirpcReturn, createBirpc } from 'birpc';
import { z } from 'zod';
import { decodeRpc, encodeRpc, type HubApi, type PageApi, type PageRole } from '../../core/protocol/pages/rpc.ts';
import { checkArguments, isMethod } from './arguments.ts';

/** The transport of one page's messages: a WebSocket or Electron's messages. */
export interface PageWire {
  send(bytes: Uint8Array): void;
  /** Sets the one receiver. */
  onMessage(receive: (bytes: Uint8Array) => void): void;
  /** Ends the connection because the page sent something invalid. */
  refuse(reason: string): void;
}

/** The only message that a page may send: a call. The hub never expects an answer from a page. */
const callSchema = z.object({ t: z.literal('q'), i: z.string().optional(), m: z.string(), a: z.array(z.unknown()) });

/** The methods of the page, and the end of the connection. */
export type PageMethods = BirpcReturn<PageApi, HubApi>;

/**
 * Answers a page's calls with `api`, as far as its role allows them. Disconnects a page that sends anything but calls.
 */
export function connectPage(wire: PageWire, api: HubApi, role: PageRole): PageMethods {
  return createBirpc<PageApi, HubApi>(api, {
    post: (bytes: Uint8Array) => wire.send(bytes),
    on: (receive) => wire.onMessage(receive),
    serialize: encodeRpc,
    deserialize: (bytes: Uint8Array) => callSchema.parse(decodeRpc(bytes)),
    eventNames: [
      'runsChanged',
      'queueChanged',
      'runUpdates',
      'studiesChanged',
      'studyChanged',
      'discoveriesChanged',
      'discoveryChanged',
    ],
    // Only methods of the API, and only with valid arguments.
    resolver: (name) => (isMethod(name) ? (...values) => callChecked(api, role, name, values) : undefined),
    onGeneralError: (error, method) => {
      // Without a method, the page's message cannot be read. Otherwise our answer failed, and the page gets the error.
      if (method === undefined) wire.refuse(error.message);
      return true;
    },
  });
}

function callChecked(api: HubApi, role: PageRole, name: keyof HubApi, values: unknown[]): unknown {
  refuseCall(role, name);
  return Reflect.apply(api[name], api, checkArguments(name, values));
}

/**
 * What a watcher may call: what shows runs. It starts, changes and writes nothing, runs no code of projects, and reads
 * no files but those of runs. A new method is not in it, so it is denied until somebody decides otherwise.
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

function mayCall(role: PageRole, method: keyof HubApi): boolean {
  return role === 'owner' || watchable.has(method);
}

/** @throws Error unless the page may call the method */
function refuseCall(role: PageRole, method: keyof HubApi): void {
  if (mayCall(role, method)) return;
  throw new Error(`This link only lets you watch runs (${method} is not allowed). Ask whoever started Tutti to do it.`);
}
