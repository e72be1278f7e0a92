import { type WireArray, dataTypeOf, dataTypes } from './arrays.ts';
import { type CollectiveArray, collectiveOperations, reduceOperations } from './collectives.ts';
import {
  align,
  arrayEntryBytes,
  callHeaderBytes,
  failureHeaderBytes,
  FrameError,
  frameKinds,
  headBytes,
  maximumBodyBytes,
  messageHeaderBytes,
  phases,
} from './frame-layout.ts';
import type { CollectiveFailure, CollectiveRequest, CollectiveResult, Frame, MessageFrame } from './frames.ts';
import { encodeUtf8 } from './host.ts';
import { toJson } from './numbers.ts';

/**
 * The bytes of a frame, in parts to be written one after the other (layout: `frame-layout.ts`). A collective's array is
 * a part of its own, without a copy: it must not change until the parts have been written.
 */
export function encodeFrame(frame: Frame): Uint8Array[] {
  if (frame.kind === 'message') return [encodeMessage(frame)];
  if (frame.phase === 'failure') return [encodeFailure(frame)];
  return encodeCall(frame);
}

function encodeMessage({ message, arrays }: MessageFrame): Uint8Array {
  const text = encodeUtf8(toJson(message));
  const textStart = messageHeaderBytes + arrays.length * arrayEntryBytes;
  const arrayStarts: number[] = [];
  let bodyBytes = textStart + text.length;
  for (const array of arrays) {
    arrayStarts.push(align(bodyBytes));
    bodyBytes = align(bodyBytes) + array.byteLength;
  }
  const bytes = startFrame('message', bodyBytes, bodyBytes);
  const body = new DataView(bytes.buffer, headBytes);
  body.setUint32(0, text.length, true);
  body.setUint32(4, arrays.length, true);
  bytes.set(text, headBytes + textStart);
  for (const [index, array] of arrays.entries()) {
    const entry = messageHeaderBytes + index * arrayEntryBytes;
    body.setUint32(entry, dataTypes.indexOf(dataTypeOf(array)), true);
    body.setUint32(entry + 4, array.length, true);
    bytes.set(bytesOf(array), headBytes + (arrayStarts[index] ?? 0));
  }
  return bytes;
}

function encodeCall({ phase, call, data }: CollectiveRequest | CollectiveResult): Uint8Array[] {
  const headerBytes = align(callHeaderBytes + 4 * call.shape.length);
  const bytes = startFrame('collective', headerBytes, headerBytes + (data?.byteLength ?? 0));
  const body = new DataView(bytes.buffer, headBytes);
  body.setUint8(0, phases.indexOf(phase));
  body.setUint8(1, collectiveOperations.indexOf(call.operation));
  body.setUint8(2, call.reduce === null ? 0 : reduceOperations.indexOf(call.reduce) + 1);
  body.setUint8(3, dataTypes.indexOf(call.dataType));
  body.setUint8(4, call.shape.length);
  body.setUint8(5, data === null ? 0 : 1);
  body.setUint32(8, call.sequence, true);
  body.setInt32(12, call.root ?? -1, true);
  for (const [axis, size] of call.shape.entries()) body.setUint32(callHeaderBytes + 4 * axis, size, true);
  return data === null ? [bytes] : [bytes, bytesOf(data)];
}

function encodeFailure({ phase, reason }: CollectiveFailure): Uint8Array {
  const text = encodeUtf8(reason);
  const bodyBytes = failureHeaderBytes + text.length;
  const bytes = startFrame('collective', bodyBytes, bodyBytes);
  bytes[headBytes] = phases.indexOf(phase);
  bytes.set(text, headBytes + failureHeaderBytes);
  return bytes;
}

/** Room for the head and `ownBytes` more, with the head filled in for a body of `bodyBytes`. */
function startFrame(kind: Frame['kind'], ownBytes: number, bodyBytes: number): Uint8Array<ArrayBuffer> {
  if (bodyBytes > maximumBodyBytes) {
    throw new FrameError(`A frame of ${bodyBytes} bytes is above the limit of ${maximumBodyBytes}; send it in pieces.`);
  }
  const bytes = new Uint8Array(headBytes + ownBytes);
  new DataView(bytes.buffer).setUint32(0, bodyBytes, true);
  bytes[4] = frameKinds.indexOf(kind);
  return bytes;
}

function bytesOf(array: CollectiveArray | WireArray): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
