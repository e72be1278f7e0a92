import type { z } from 'zod';
import { enforcedByNode } from '../../../core/protocol/machine/confinement.ts';
import { decodeRpc, encodeRpc } from '../../../core/protocol/pages/rpc.ts';
import { hubMessageSchema, workerMessageSchema } from '../../../core/protocol/run/messages.ts';
import { remoteRequestSchema } from '../../../core/protocol/run/control-state.ts';
import { StreamChannel } from '../../../core/protocol/wire/channel.ts';
import { FrameDecoder } from '../../../core/protocol/wire/frame-decoder.ts';
import { encodeFrame } from '../../../core/protocol/wire/frame-encoder.ts';
import type { CollectiveRequest, Frame } from '../../../core/protocol/wire/frames.ts';
import type { Relay } from '../../../src-main/relay/relay.ts';
import { checkMetricName } from '../../../src-main/store/metrics/metrics-csv.ts';
import { pointBatch } from '../../../core/protocol/wire/points.ts';
import type { FuzzTarget } from '../engine/target.ts';
import { barrierRequest, createRelay } from '../../unit/relay/in-memory-group.ts';
import { pointBatch as points } from '../../unit/store/records.ts';

const bytesOf = (frame: Frame): Uint8Array => Buffer.concat(encodeFrame(frame));
const message = (value: unknown): Uint8Array => bytesOf({ kind: 'message', message: value, arrays: [] });

const sum: CollectiveRequest = {
  ...barrierRequest,
  call: { ...barrierRequest.call, operation: 'all-reduce', reduce: 'sum', dataType: 'float32', shape: [2, 2] },
  data: Float32Array.of(1, 2, 3, 4),
};
const { names, nameIndex, epoch, step, value, timeMs } = points([
  [0, 1, 'train/loss', 0.5],
  [0, 2, 'train/loss', Number.NaN],
]);
const columns = [nameIndex, epoch, step, value, timeMs] as Int32Array<ArrayBuffer>[];
const batch = bytesOf({ kind: 'message', message: { type: 'points', names }, arrays: columns });
const frameSeeds = [
  bytesOf(barrierRequest),
  bytesOf(sum),
  bytesOf({ kind: 'collective', phase: 'failure', reason: 'Rank 1 left the group.' }),
  message({ type: 'state', state: 'training', epoch: 1, step: 20 }),
  message({ type: 'hello', rank: 0, pid: 12, token: 'abc', enforcement: enforcedByNode('none') }),
  batch,
  Buffer.concat([bytesOf(sum), bytesOf(sum)]),
  Buffer.concat([bytesOf(barrierRequest), bytesOf(barrierRequest)]),
];

/** Decodes a stream of frames in two chunks, cut at a place that the input chooses. */
function decodeInTwo(bytes: Buffer): Frame[] {
  const decoder = new FrameDecoder();
  const cut = bytes.length === 0 ? 0 : bytes[bytes.length - 1] % bytes.length;
  return [...decoder.push(bytes.subarray(0, cut)), ...decoder.push(bytes.subarray(cut))];
}

const frames: FuzzTarget = {
  name: 'frames',
  reads: 'frames of a socket (core/protocol/wire)',
  seeds: async () => frameSeeds,
  run: decodeInTwo,
  weight: 2,
};

/**
 * What the hub does with a rank's frames until one is invalid: schemas, columns of points, the relay's checks of
 * collectives.
 */
function takeAsHub(relay: Relay, decoded: readonly Frame[]): void {
  for (const [index, frame] of decoded.entries()) {
    if (frame.kind === 'collective') {
      relay.receive(index % 2, frame);
      continue;
    }
    const parsed = workerMessageSchema.safeParse(frame.message);
    if (!parsed.success || parsed.data.type !== 'points') continue;
    const taken = pointBatch(parsed.data.names, frame.arrays);
    taken.names.forEach(checkMetricName);
    for (const [point, name] of taken.nameIndex.entries()) {
      if (taken.names[name] === undefined || taken.epoch[point] === undefined || taken.value[point] === undefined) {
        throw new RangeError(`Point ${point} has no name, epoch or value.`);
      }
    }
  }
}

const workerMessages: FuzzTarget = {
  name: 'worker-messages',
  reads: 'what a rank sends: messages, points, collectives (hub)',
  seeds: async () => frameSeeds,
  run(bytes) {
    const ranks = [0, 1];
    const relay = createRelay(ranks);
    for (const rank of ranks) relay.attach(rank, () => undefined);
    relay.hold();
    takeAsHub(relay, decodeInTwo(bytes));
  },
};

/** Parses messages of any peer. Their schemas accept or refuse, but never throw. */
function parseAll(frame: Frame): void {
  if (frame.kind !== 'message') return;
  const schemas: readonly z.ZodType[] = [hubMessageSchema, workerMessageSchema, remoteRequestSchema];
  for (const schema of schemas) schema.safeParse(frame.message);
}

const channel: FuzzTarget = {
  name: 'channel',
  reads: 'a connection that ends anywhere, messages in both directions',
  seeds: async () => [
    ...frameSeeds,
    message({ type: 'control', control: { action: 'set', changes: { 'optimizer.learningRate': 0.1 } } }),
    message({ type: 'remote-request', token: 'abc', request: { action: 'checkpoint', name: 'best' } }),
  ],
  run(bytes) {
    const ended: (Error | null)[] = [];
    const link = new StreamChannel({ write: () => undefined, end: () => undefined, destroy: () => undefined });
    link.onClose((error) => void ended.push(error));
    link.onFrame(parseAll);
    for (let at = 0; at < bytes.length; at += 97) link.receiveBytes(bytes.subarray(at, at + 97));
    link.streamClosed(null);
    if (ended.length !== 1) throw new RangeError(`The end of the connection was reported ${ended.length} times.`);
    if (ended[0] !== null) throw ended[0];
  },
};

const rpcCodec: FuzzTarget = {
  name: 'rpc-codec',
  reads: 'the bytes of a call between page and hub (core/protocol/pages/rpc)',
  seeds: async () => [
    encodeRpc({ t: 'q', i: 'a', m: 'runs', a: [] }),
    encodeRpc({ $a: [Number.NaN, -0, Infinity], error: new Error('text'), bytes: Float64Array.of(1, 2), b: { $$: 1 } }),
  ],
  run(bytes) {
    decodeRpc(bytes);
  },
};

export const wireTargets = [frames, workerMessages, channel, rpcCodec];
