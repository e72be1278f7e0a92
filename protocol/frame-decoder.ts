import { type DataType, type WireArray, bytesPerElement, dataTypes, viewArray } from './arrays.ts';
import { collectiveOperations, elementCount, reduceOperations } from './collectives.ts';
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
import type { CollectiveFrame, Frame, MessageFrame } from './frames.ts';
import { decodeUtf8 } from './host.ts';

/**
 * Turns a stream of bytes, cut anywhere, into frames (layout: `frame-layout.ts`). Every byte is copied once, to where
 * the frame's arrays will lie. Throws a {@link FrameError} at what is no frame; the decoder is of no use afterwards.
 */
export class FrameDecoder {
  readonly #head = new Uint8Array(headBytes);
  /** Where the next bytes go: the head, or a body of the length that the head gave. */
  #target: Uint8Array<ArrayBuffer> = this.#head;
  #filled = 0;

  /** Whether the bytes so far end inside a frame. */
  get isInsideFrame(): boolean {
    return this.#target !== this.#head || this.#filled > 0;
  }

  /** The frames that this chunk completes. */
  push(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    for (let offset = 0; offset < chunk.length;) {
      const taken = Math.min(this.#target.length - this.#filled, chunk.length - offset);
      this.#target.set(chunk.subarray(offset, offset + taken), this.#filled);
      this.#filled += taken;
      offset += taken;
      if (this.#filled < this.#target.length) break;
      this.#filled = 0;
      if (this.#target === this.#head) {
        this.#target = new Uint8Array(readBodyLength(this.#head));
      } else {
        frames.push(decodeBody(this.#head, this.#target));
        this.#target = this.#head;
      }
    }
    return frames;
  }
}

/** Checks all of the head at once, so that a stray peer is found out before anyone waits for its "body". */
function readBodyLength(head: Uint8Array<ArrayBuffer>): number {
  const view = new DataView(head.buffer);
  const bodyBytes = view.getUint32(0, true);
  pick(frameKinds, view.getUint8(4), 'kind of frame');
  if (view.getUint8(5) !== 0 || view.getUint16(6, true) !== 0) throw new FrameError('A frame starts with a bad head.');
  if (bodyBytes < 8 || bodyBytes > maximumBodyBytes) {
    throw new FrameError(`A frame says it has ${bodyBytes} bytes; from 8 to ${maximumBodyBytes} are possible.`);
  }
  return bodyBytes;
}

function decodeBody(head: Uint8Array, body: Uint8Array<ArrayBuffer>): Frame {
  try {
    return head[4] === frameKinds.indexOf('message') ? decodeMessage(body) : decodeCollective(body);
  } catch (error) {
    if (error instanceof FrameError) throw error;
    throw new FrameError(`A frame of ${body.length} bytes cannot be read.`, { cause: error });
  }
}

function decodeMessage(body: Uint8Array<ArrayBuffer>): MessageFrame {
  const view = new DataView(body.buffer);
  const textBytes = view.getUint32(0, true);
  const arrayCount = view.getUint32(4, true);
  const textStart = messageHeaderBytes + arrayCount * arrayEntryBytes;
  const arrays: WireArray[] = [];
  let end = textStart + textBytes;
  for (let index = 0; index < arrayCount; index += 1) {
    const entry = messageHeaderBytes + index * arrayEntryBytes;
    const dataType = pick(dataTypes, view.getUint32(entry, true), 'data type');
    const length = view.getUint32(entry + 4, true);
    arrays.push(viewArray(dataType, body.buffer, align(end), length));
    end = align(end) + length * bytesPerElement(dataType);
  }
  checkEnd(end, body);
  const message: unknown = JSON.parse(decodeUtf8(body.subarray(textStart, textStart + textBytes)));
  return { kind: 'message', message, arrays };
}

function decodeCollective(body: Uint8Array<ArrayBuffer>): CollectiveFrame {
  const view = new DataView(body.buffer);
  const phase = pick(phases, view.getUint8(0), 'phase');
  if (phase === 'failure') {
    return { kind: 'collective', phase, reason: decodeUtf8(body.subarray(failureHeaderBytes)) };
  }
  const reduceCode = view.getUint8(2);
  const root = view.getInt32(12, true);
  const shape = Array.from({ length: view.getUint8(4) }, (_, axis) => view.getUint32(callHeaderBytes + 4 * axis, true));
  const call = {
    operation: pick(collectiveOperations, view.getUint8(1), 'operation'),
    reduce: reduceCode === 0 ? null : pick(reduceOperations, reduceCode - 1, 'reduce operation'),
    dataType: pick(dataTypes, view.getUint8(3), 'data type'),
    shape,
    root: root === -1 ? null : root,
    sequence: view.getUint32(8, true),
  };
  const data = readData(body, call.dataType, shape, view.getUint8(5) === 1);
  return { kind: 'collective', phase, call, data };
}

function readData(
  body: Uint8Array<ArrayBuffer>,
  dataType: DataType,
  shape: readonly number[],
  isPresent: boolean,
): WireArray | null {
  const start = align(callHeaderBytes + 4 * shape.length);
  const length = isPresent ? elementCount(shape) : 0;
  checkEnd(start + length * bytesPerElement(dataType), body);
  return isPresent ? viewArray(dataType, body.buffer, start, length) : null;
}

function checkEnd(end: number, body: Uint8Array): void {
  if (end !== body.length) throw new FrameError(`A frame of ${body.length} bytes describes contents of ${end} bytes.`);
}

function pick<T>(choices: readonly T[], index: number, what: string): T {
  const choice = choices[index];
  if (choice === undefined) throw new FrameError(`A frame has the unknown ${what} ${index}.`);
  return choice;
}
