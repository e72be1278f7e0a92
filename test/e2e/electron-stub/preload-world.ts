import { decodeClone, encodeClone } from './clone.ts';

/** Name of the world that the preload runs in. It shares the page's document, but no objects. */
export const preloadWorld = 'electron-preload';

/** Calls between the main process and that world, in both directions. */
export const fromMain = 'stubFromMain';
export const toMain = 'stubToMain';

/** Messages from the main process to that world. */
export type ToPreload =
  | { channel: string; args: unknown[] }
  | { name: string; path: string }
  | { answers: number; value: unknown }
  | { answers: number; error: string };

/** Messages from that world to the main process. */
export interface FromPreload {
  channel: string;
  args: unknown[];
  /** Set if an answer is expected. */
  asks?: number;
}

/** Script of the preload's world: Electron's modules for preloads, then the built preload. */
export function preloadScript(preload: string): string {
  const parts = [joinWorlds, encodeClone, decodeClone, installPreloadModules].map(String).join('\n');
  return `(() => {\n${parts}\nconst require = installPreloadModules(joinWorlds('preload', 'page'));\n${preload}\n})();`;
}

/** Script of the page's world, which has to run first. The preload's exposed functions appear there. */
export const pageScript = `(() => {\n${String(joinWorlds)}\njoinWorlds('page', 'preload');\n})();`;

type Call = (...args: unknown[]) => unknown;
type FromOtherWorld =
  | { id: number; args: unknown[] }
  | { name: string; api: Record<string, unknown> }
  | { result: { value?: unknown; error?: string } };
type Expose = (name: string, api: Record<string, Call>) => void;

/**
 * Passes functions, promises and clones synchronously between two worlds, by events of their shared window, like `contextBridge`.
 * @returns exposes functions in the other world
 */
function joinWorlds(here: string, there: string): Expose {
  const kept = new Map<number, Call | PromiseLike<unknown>>();
  let lastId = 0;
  let answer: { value?: unknown; error?: string } = {};
  const window = globalThis as unknown as EventTarget;
  const send = (detail: FromOtherWorld): boolean =>
    window.dispatchEvent(new CustomEvent(`stub-to-${there}`, { detail }));

  function pack(value: unknown): unknown {
    const isPromise = value instanceof Promise;
    if (!isPromise && typeof value !== 'function') return value;
    lastId += 1;
    kept.set(lastId, value as Call);
    return { [isPromise ? '$promise' : '$function']: lastId };
  }
  function unpack(value: unknown): unknown {
    const { $function, $promise } = (value ?? {}) as { $function?: number; $promise?: number };
    if ($function !== undefined) return (...args: unknown[]) => call($function, args);
    if ($promise === undefined) return value;
    return new Promise((resolve, reject) => call($promise, [resolve, (reason: string) => reject(new Error(reason))]));
  }
  function call(id: number, args: unknown[]): unknown {
    send({ id, args: args.map(pack) });
    const { value, error } = answer;
    if (error !== undefined) throw new Error(error);
    return unpack(value);
  }
  function perform(id: number, args: unknown[]): unknown {
    const target = kept.get(id);
    if (typeof target === 'function') return pack(target(...args));
    const [resolve, reject] = args as [Call, Call];
    void target?.then(resolve, (reason: unknown) => reject(reason instanceof Error ? reason.message : String(reason)));
    return undefined;
  }
  window.addEventListener(`stub-to-${here}`, (event) => {
    const { detail } = event as CustomEvent<FromOtherWorld>;
    if ('result' in detail) answer = detail.result;
    else if ('name' in detail) {
      const entries = Object.entries(detail.api).map(([key, method]) => [key, unpack(method)]);
      Object.defineProperty(window, detail.name, { value: Object.freeze(Object.fromEntries(entries)) });
    } else {
      try {
        send({ result: { value: perform(detail.id, detail.args.map(unpack)) } });
      } catch (error) {
        send({ result: { error: error instanceof Error ? error.message : String(error) } });
      }
    }
  });
  return (name, api) =>
    void send({ name, api: Object.fromEntries(Object.entries(api).map(([key, method]) => [key, pack(method)])) });
}

function installPreloadModules(expose: Expose): (name: string) => object {
  const listeners = new Map<string, Set<Call>>();
  const asked = new Map<number, PromiseWithResolvers<unknown>>();
  /** Paths of the files and folders being dropped, by name. A page's `File` has only the name. */
  const dropped = new Map<string, string>();
  const world = globalThis as unknown as Record<string, Call>;
  const toBase64 = (bytes: Uint8Array): string => (bytes as unknown as Record<string, () => string>).toBase64();
  const fromBase64 = (text: string): Uint8Array =>
    (Uint8Array as unknown as Record<string, (text: string) => Uint8Array>).fromBase64(text);
  const tell = (message: FromPreload): unknown => world.stubToMain(encodeClone(message, toBase64));

  world.stubFromMain = (text) => {
    const message = decodeClone(String(text), fromBase64) as ToPreload;
    if ('channel' in message)
      for (const listener of listeners.get(message.channel) ?? []) listener({}, ...message.args);
    else if ('name' in message) dropped.set(message.name, message.path);
    else if ('error' in message) asked.get(message.answers)?.reject(new Error(message.error));
    else asked.get(message.answers)?.resolve(message.value);
  };
  const electron = {
    contextBridge: { exposeInMainWorld: expose },
    webUtils: { getPathForFile: (file: { name: string }) => dropped.get(file.name) ?? '' },
    ipcRenderer: {
      on: (channel: string, listener: Call) =>
        listeners.set(channel, new Set([...(listeners.get(channel) ?? []), listener])),
      off: (channel: string, listener: Call) => listeners.get(channel)?.delete(listener),
      send: (channel: string, ...args: unknown[]) => tell({ channel, args }),
      invoke: (channel: string, ...args: unknown[]) => {
        const id = asked.size + 1;
        const answer = Promise.withResolvers<unknown>();
        asked.set(id, answer);
        tell({ channel, args, asks: id });
        return answer.promise;
      },
    },
  };
  return (name) => {
    if (name === 'electron') return electron;
    throw new Error(`A sandboxed preload cannot require ${name}.`);
  };
}
