import { dataTypeOf, dataTypes } from './arrays.ts';
import { collectiveOperations, collectiveStages } from './collective-stages.ts';
import { type CollectiveArray, reduceOperations } from './collectives.ts';
import {
  align,
  arrayEntryBytes,
  callStartBytes,
  type CollectiveFailure,
  type CollectiveRequest,
  type CollectiveResult,
  failureStartBytes,
  type Frame,
  FrameError,
  frameKinds,
  headBytes,
  maximumFrameBytes,
  type MessageFrame,
  messageStartBytes,
  phases,
} from './frames.ts';
import { encodeUtf8 } from '../../text/host.ts';
import { toJson } from './numbers.ts';

/**
 * Encodes a frame in parts, to write one after the other (layout: `frame-layout.ts`). A collective's array is a
 * separate part, without a copy: it must not change until the parts have been written.
 */
export function encodeFrame(frame: Frame): Uint8Array[] {
  if (frame.kind === 'message') return encodeMessage(frame);
  if (frame.phase === 'failure') return encodeFailure(frame);
  return encodeCall(frame);
}

function encodeMessage({ message, arrays }: MessageFrame): Uint8Array[] {
  const text = encodeUtf8(toJson(message));
  const textStart = messageStartBytes + arrays.length * arrayEntryBytes;
  const payload = new Uint8Array(arrays.reduce((end, array) => align(end) + array.byteLength, 0));
  const { bytes, description } = startFrame('message', textStart + text.length, payload.length);
  description.setUint32(0, arrays.length, true);
  let end = 0;
  for (const [index, array] of arrays.entries()) {
    const entry = messageStartBytes + index * arrayEntryBytes;
    description.setUint32(entry, dataTypes.indexOf(dataTypeOf(array)), true);
    description.setUint32(entry + 4, array.length, true);
    payload.set(bytesOf(array), align(end));
    end = align(end) + array.byteLength;
  }
  bytes.set(text, headBytes + textStart);
  return payload.length === 0 ? [bytes] : [bytes, payload];
}

function encodeCall({ phase, call, signals, data }: CollectiveRequest | CollectiveResult): Uint8Array[] {
  const payload = data === null ? null : bytesOf(data);
  const descriptionBytes = callStartBytes + 4 * call.shape.length;
  const { bytes, description } = startFrame('collective', descriptionBytes, payload?.length ?? 0);
  description.setUint8(0, phases.indexOf(phase));
  description.setUint8(1, collectiveOperations.indexOf(call.operation));
  description.setUint8(2, call.reduce === null ? 0 : reduceOperations.indexOf(call.reduce) + 1);
  description.setUint8(3, dataTypes.indexOf(call.dataType));
  description.setUint8(4, call.shape.length);
  description.setUint8(5, payload === null ? 0 : 1);
  description.setUint8(6, Number(signals.halt));
  description.setUint8(7, collectiveStages.indexOf(call.stage));
  description.setUint32(8, call.sequence, true);
  description.setInt32(12, call.root ?? -1, true);
  description.setUint32(16, signals.controls, true);
  description.setUint32(20, call.distance ?? 0, true);
  for (const [axis, size] of call.shape.entries()) description.setUint32(callStartBytes + 4 * axis, size, true);
  return payload === null ? [bytes] : [bytes, payload];
}

function encodeFailure({ phase, reason }: CollectiveFailure): Uint8Array[] {
  const text = encodeUtf8(reason);
  const { bytes, description } = startFrame('collective', failureStartBytes + text.length, 0);
  description.setUint8(0, phases.indexOf(phase));
  bytes.set(text, headBytes + failureStartBytes);
  return [bytes];
}

/** Head and description in one piece, with the head filled in. */
function startFrame(
  kind: Frame['kind'],
  descriptionBytes: number,
  payloadBytes: number,
): { bytes: Uint8Array; description: DataView } {
  const frameBytes = descriptionBytes + payloadBytes;
  if (frameBytes > maximumFrameBytes) {
    throw new FrameError(
      `A frame of ${frameBytes} bytes is above the limit of ${maximumFrameBytes}; send it in pieces.`,
    );
  }
  const bytes = new Uint8Array(headBytes + descriptionBytes);
  const head = new DataView(bytes.buffer, 0, headBytes);
  head.setUint32(0, descriptionBytes, true);
  head.setUint32(4, payloadBytes, true);
  head.setUint8(8, frameKinds.indexOf(kind));
  return { bytes, description: new DataView(bytes.buffer, headBytes) };
}

function bytesOf(array: CollectiveArray): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
