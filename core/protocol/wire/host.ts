/**
 * What every JavaScript host offers and the language's own library does not declare. `protocol` is checked with neither
 * Node's types nor the DOM's, so the few of their common globals that it needs are declared here, for this file alone.
 */
declare const TextEncoder: new () => { encode(text: string): Uint8Array<ArrayBuffer> };
declare const TextDecoder: new (
  encoding: 'utf-8',
  options: { fatal: boolean },
) => { decode(bytes: Uint8Array): string };
declare const queueMicrotask: (task: () => void) => void;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

export const encodeUtf8 = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);

/** Throws a TypeError where the bytes are not UTF-8. */
export const decodeUtf8 = (bytes: Uint8Array): string => decoder.decode(bytes);

/** Runs a task after what runs now, before any input or output. */
export const runSoon = (task: () => void): void => queueMicrotask(task);
