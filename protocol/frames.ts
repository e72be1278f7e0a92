/** The arrays that may travel: everything else would have to be JSON. */
export type WireArray =
  Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;

/** A message of `messages.ts` with the arrays that belong to it. */
export interface MessageFrame {
  kind: 'message';
  message: unknown;
  arrays: WireArray[];
}

export type Frame = MessageFrame;
