import { FrameDecoder } from '../wire/frame-decoder.ts';
import { encodeFrame } from '../wire/frame-encoder.ts';
import { FrameError, headBytes } from '../wire/frame-layout.ts';
import { frameOfValue, valueOfFrame } from '../wire/value-frame.ts';

/** Encodes calls and answers between page and hub: each is the bytes of exactly one message frame. */

/** @throws TypeError for a value that would arrive changed: a Map, a Date, an array of another element type */
export function encodeRpc(value: unknown): Uint8Array<ArrayBuffer> {
  return join(encodeFrame(frameOfValue(value)));
}

/** @throws FrameError if the bytes are not one whole frame, or hold a value that {@link encodeRpc} never writes */
export function decodeRpc(bytes: Uint8Array): unknown {
  // Checked before memory is allocated for the announced size.
  if (bytes.length < headBytes || bytes.length !== announcedBytes(bytes)) {
    throw new FrameError(`A message of ${bytes.length} bytes is not one whole frame.`);
  }
  const [frame] = new FrameDecoder().push(bytes);
  return valueOfFrame(frame);
}

function announcedBytes(bytes: Uint8Array): number {
  const head = new DataView(bytes.buffer, bytes.byteOffset, headBytes);
  return headBytes + head.getUint32(0, true) + head.getUint32(4, true);
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((bytes, part) => bytes + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
