/**
 * Globals of every JavaScript host that the language's type library does not declare. `core` is checked without the
 * types of Node and the DOM, so this file declares the few globals that it needs.
 */
declare const TextEncoder: new () => { encode(text: string): Uint8Array<ArrayBuffer> };
declare const TextDecoder: new (
  encoding: string,
  options: { fatal: boolean; ignoreBOM?: boolean },
) => { decode(bytes?: Uint8Array, options?: { stream: boolean }): string };
declare const queueMicrotask: (task: () => void) => void;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

export const encodeUtf8 = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);

/** @throws TypeError when the bytes are not UTF-8 */
export const decodeUtf8 = (bytes: Uint8Array): string => decoder.decode(bytes);

/**
 * A decoder that keeps a mark at the beginning, and throws a TypeError for bytes that are not of the encoding.
 * @throws RangeError for an unknown one
 */
export const textDecoder = (encoding: string): InstanceType<typeof TextDecoder> =>
  new TextDecoder(encoding, { fatal: true, ignoreBOM: true });

/** Runs a task after the current one, before any input or output. */
export const runSoon = (task: () => void): void => queueMicrotask(task);
