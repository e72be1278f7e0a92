/**
 * How frames look on the wire. All integers are little-endian, reserved bytes are zero, arrays start at multiples of 8
 * bytes so that the receiver reads them where they are.
 *
 *     head, 8 bytes          u32 bytes of the body, u8 kind (index in `frameKinds`), 3 reserved
 *
 *     body of a message      u32 bytes of the JSON text, u32 number of arrays
 *                            per array: u32 data type (index in `dataTypes`), u32 length
 *                            JSON text, padding, arrays with padding between them
 *
 *     body of a request      u8 phase (index in `phases`), u8 operation, u8 reduce operation + 1 (0: none), u8 data type,
 *     or result              u8 dimensions, u8 whether data follows, 2 reserved
 *                            u32 sequence number, i32 root (-1: none), u32 per dimension
 *                            padding, array
 *
 *     body of a failure      u8 phase, 7 reserved, reason as UTF-8 text
 */
export const frameKinds = ['message', 'collective'] as const;
export const phases = ['request', 'result', 'failure'] as const;

export const headBytes = 8;
export const messageHeaderBytes = 8;
export const arrayEntryBytes = 8;
export const callHeaderBytes = 16;
export const failureHeaderBytes = 8;

/** 1 GiB: far above any real frame, so that a larger length means a broken stream. */
export const maximumBodyBytes = 2 ** 30;

export const align = (offset: number): number => Math.ceil(offset / 8) * 8;

/** What arrives is not a frame. Nothing after it can be trusted. */
export class FrameError extends Error {
  override name = 'FrameError';
}

if (new Uint8Array(new Uint16Array([1]).buffer)[0] !== 1) {
  throw new Error('Frames hold arrays as they lie in memory, little-endian; this processor is big-endian.');
}
