import { bytesPerElement, dataTypes, viewArray, type WireArray } from './arrays.ts';
import { collectiveOperations, collectiveStages } from './collective-stages.ts';
import { elementCount, reduceOperations } from './collectives.ts';
import {
  align,
  arrayEntryBytes,
  callStartBytes,
  type CollectiveFrame,
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
import { decodeUtf8 } from '../../text/host.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Memory that is taken for an announced length before its bytes arrive; it grows as they do. A head of 12 bytes must
 * not cost a gigabyte. A third of a larger part is copied a second time.
 */
const firstBytes = 2 ** 24;
const growth = 4;

/**
 * Decodes a stream of bytes, in chunks of any size, into frames (layout: `frame-layout.ts`). Copies every byte once,
 * into the memory of the frame's arrays (of more than 16 MiB, a third of them twice). Throws a {@link FrameError} for
 * an invalid frame; the decoder is unusable afterwards.
 */
export class FrameDecoder {
  readonly #head: Bytes = new Uint8Array(headBytes);
  #description: Bytes = new Uint8Array(0);
  /** Which part of a frame the next bytes belong to. */
  #part: 'head' | 'description' | 'payload' = 'head';
  /** The memory of that part; it may be shorter than announced until its bytes arrive. */
  #target = this.#head;
  #announcedBytes = headBytes;
  #payloadBytes = 0;
  #filled = 0;

  /** Whether the bytes so far end inside a frame. */
  get isInsideFrame(): boolean {
    return this.#part !== 'head' || this.#filled > 0;
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
      if (this.#filled < this.#announcedBytes) this.#grow();
      else this.#completePart(frames);
    }
    return frames;
  }

  #grow(): void {
    const larger = new Uint8Array(Math.min(this.#announcedBytes, growth * this.#filled));
    larger.set(this.#target);
    this.#target = larger;
  }

  #begin(part: 'description' | 'payload', bytes: number): void {
    this.#part = part;
    this.#target = new Uint8Array(Math.min(bytes, firstBytes));
    this.#announcedBytes = bytes;
    this.#filled = 0;
  }

  #completePart(frames: Frame[]): void {
    if (this.#part === 'head') {
      const { descriptionBytes, payloadBytes } = readHead(this.#head);
      this.#payloadBytes = payloadBytes;
      return this.#begin('description', descriptionBytes);
    }
    if (this.#part === 'description') {
      this.#description = this.#target;
      if (this.#payloadBytes > 0) return this.#begin('payload', this.#payloadBytes);
    }
    const payload = this.#part === 'payload' ? this.#target : new Uint8Array(0);
    frames.push(decodeFrame(this.#head, this.#description, payload));
    this.#part = 'head';
    this.#target = this.#head;
    this.#announcedBytes = headBytes;
    this.#filled = 0;
  }
}

/** Checks the whole head, so that a foreign peer is rejected before its "frame" is complete. */
function readHead(head: Bytes): { descriptionBytes: number; payloadBytes: number } {
  const view = new DataView(head.buffer);
  const descriptionBytes = view.getUint32(0, true);
  const payloadBytes = view.getUint32(4, true);
  pick(frameKinds, view.getUint8(8), 'kind of frame');
  if (view.getUint8(9) !== 0 || view.getUint16(10, true) !== 0) throw new FrameError('A frame starts with a bad head.');
  const frameBytes = descriptionBytes + payloadBytes;
  if (descriptionBytes < 8 || frameBytes > maximumFrameBytes) {
    throw new FrameError(
      `A frame announces ${descriptionBytes} + ${payloadBytes} bytes; 8 + 0 to ${maximumFrameBytes} are allowed.`,
    );
  }
  return { descriptionBytes, payloadBytes };
}

function decodeFrame(head: Bytes, description: Bytes, payload: Bytes): Frame {
  try {
    return pick(frameKinds, head[8], 'kind of frame') === 'message'
      ? decodeMessage(description, payload)
      : decodeCollective(description, payload);
  } catch (error) {
    if (error instanceof FrameError) throw error;
    throw new FrameError(`A frame of ${description.length} + ${payload.length} bytes cannot be read.`, {
      cause: error,
    });
  }
}

function decodeMessage(description: Bytes, payload: Bytes): MessageFrame {
  const view = new DataView(description.buffer);
  const arrayCount = view.getUint32(0, true);
  const arrays: WireArray[] = [];
  let end = 0;
  for (let index = 0; index < arrayCount; index += 1) {
    const entry = messageStartBytes + index * arrayEntryBytes;
    const dataType = pick(dataTypes, view.getUint32(entry, true), 'data type');
    const length = view.getUint32(entry + 4, true);
    arrays.push(viewArray(dataType, payload.buffer, align(end), length));
    end = align(end) + length * bytesPerElement(dataType);
  }
  checkPayload(payload, end);
  const text = decodeUtf8(description.subarray(messageStartBytes + arrayCount * arrayEntryBytes));
  const message: unknown = JSON.parse(text);
  return { kind: 'message', message, arrays };
}

function decodeCollective(description: Bytes, payload: Bytes): CollectiveFrame {
  const view = new DataView(description.buffer);
  const phase = pick(phases, view.getUint8(0), 'phase');
  if (phase === 'failure') {
    return { kind: 'collective', phase, reason: decodeUtf8(description.subarray(failureStartBytes)) };
  }
  const reduceCode = view.getUint8(2);
  const dataType = pick(dataTypes, view.getUint8(3), 'data type');
  const shape = Array.from({ length: view.getUint8(4) }, (_, axis) => view.getUint32(callStartBytes + 4 * axis, true));
  const length = view.getUint8(5) === 1 ? elementCount(shape) : null;
  const [root, distance] = [view.getInt32(12, true), view.getUint32(20, true)];
  checkPayload(payload, (length ?? 0) * bytesPerElement(dataType));
  return {
    kind: 'collective',
    phase,
    call: {
      operation: pick(collectiveOperations, view.getUint8(1), 'operation'),
      reduce: reduceCode === 0 ? null : pick(reduceOperations, reduceCode - 1, 'reduce operation'),
      dataType,
      shape,
      root: root === -1 ? null : root,
      distance: distance === 0 ? null : distance,
      sequence: view.getUint32(8, true),
      stage: pick(collectiveStages, view.getUint8(7), 'stage'),
    },
    signals: { controls: view.getUint32(16, true), halt: view.getUint8(6) === 1 },
    data: length === null ? null : viewArray(dataType, payload.buffer, 0, length),
  };
}

function checkPayload(payload: Bytes, describedBytes: number): void {
  if (payload.length !== describedBytes) {
    throw new FrameError(`A frame with ${payload.length} bytes of arrays describes ${describedBytes} bytes of them.`);
  }
}

function pick<T>(choices: readonly T[], index: number, what: string): T {
  const choice = choices[index];
  if (choice === undefined) throw new FrameError(`A frame has the unknown ${what} ${index}.`);
  return choice;
}
