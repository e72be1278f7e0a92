import { type BirpcReturn, createBirpc } from 'birpc';
import { z } from 'zod';
import type { HubApi, PageApi } from '../../core/protocol/pages/rpc.ts';
import { decodeRpc, encodeRpc } from '../../core/protocol/pages/rpc-codec.ts';
import { checkArguments, isMethod } from './arguments.ts';

/** The transport of one page's messages: a WebSocket or Electron's messages. */
export interface PageWire {
  send(bytes: Uint8Array): void;
  /** Sets the one receiver. */
  onMessage(receive: (bytes: Uint8Array) => void): void;
  /** Ends the connection because of what the page sent. */
  refuse(reason: string): void;
}

/** What a page may send: a call, or nothing else, since the hub asks it nothing. */
const callSchema = z.object({ t: z.literal('q'), i: z.string().optional(), m: z.string(), a: z.array(z.unknown()) });

/** The page's own methods, and the end of the connection. */
export type PageMethods = BirpcReturn<PageApi, HubApi>;

/** Answers a page's calls by `api`. A page that sends anything but calls is turned away. */
export function connectPage(wire: PageWire, api: HubApi): PageMethods {
  return createBirpc<PageApi, HubApi>(api, {
    post: (bytes: Uint8Array) => wire.send(bytes),
    on: (receive) => wire.onMessage(receive),
    serialize: encodeRpc,
    deserialize: (bytes: Uint8Array) => callSchema.parse(decodeRpc(bytes)),
    eventNames: ['runsChanged', 'runUpdates'],
    // Own methods only, and only with arguments that fit.
    resolver: (name) => (isMethod(name) ? (...values) => callChecked(api, name, values) : undefined),
    onGeneralError: (error, method) => {
      // Without a method it is the page's message that cannot be read; else our answer, and then the page is told.
      if (method === undefined) wire.refuse(error.message);
      return true;
    },
  });
}

function callChecked(api: HubApi, name: keyof HubApi, values: unknown[]): unknown {
  return Reflect.apply(api[name], api, checkArguments(name, values));
}
