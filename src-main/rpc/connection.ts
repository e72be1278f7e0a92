import { type BirpcReturn, createBirpc } from 'birpc';
import { z } from 'zod';
import { type HubApi, hubMethods } from '../../core/protocol/pages/hub-methods.ts';
import { decodeRpc, encodeRpc, type PageApi, pageEvents, type PageRole } from '../../core/protocol/pages/rpc.ts';

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
    eventNames: pageEvents,
    // Only methods of the table, and only with valid arguments.
    resolver: (name) => (isMethod(name) ? (...values) => callChecked(api, role, name, values) : undefined),
    onGeneralError: (error, method) => {
      // Without a method, the page's message cannot be read. Otherwise our answer failed, and the page gets the error.
      if (method === undefined) wire.refuse(error.message);
      return true;
    },
  });
}

function isMethod(name: string): name is keyof HubApi {
  return Object.hasOwn(hubMethods, name);
}

/** @throws Error that names what this page may not call, or the problem of each wrong argument */
function callChecked(api: HubApi, role: PageRole, name: keyof HubApi, values: unknown[]): unknown {
  const { permission, arguments: schema } = hubMethods[name];
  if (permission !== 'watch' && role !== 'owner') {
    throw new Error(`This link only lets you watch runs (${name} is not allowed). Ask whoever started Tutti to do it.`);
  }
  const checked = schema.safeParse(values);
  if (checked.success) return Reflect.apply(api[name], api, checked.data);
  throw new Error(`A page called ${name} with wrong arguments:\n${z.prettifyError(checked.error)}`);
}

/** Serves one page until the returned function is called. */
export type Connect = (wire: PageWire) => () => void;

/**
 * Connects pages to a hub that still opens: their calls wait for it, so that a page can load meanwhile. If it does not
 * open, the app says so and ends.
 */
export function connectWhenOpen(opening: Promise<Connect>): Connect {
  return (wire) => {
    const waiting: Uint8Array[] = [];
    let hasLeft = false;
    let disconnect = (): void => {
      hasLeft = true;
    };
    wire.onMessage((bytes) => void waiting.push(bytes));
    const begin = (connect: Connect): void => {
      if (hasLeft) return;
      disconnect = connect({
        ...wire,
        onMessage: (receive) => {
          wire.onMessage(receive);
          for (const bytes of waiting.splice(0)) receive(bytes);
        },
      });
    };
    opening.then(begin, () => undefined);
    return () => disconnect();
  };
}
