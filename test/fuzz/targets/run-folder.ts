import { mkdir, writeFile } from 'node:fs/promises';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { postprocessingPath } from '../../../core/postprocessing/schema.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { decodeSafetensors, encodeSafetensors } from '../../../core/safetensors/safetensors.ts';
import { metricsOf, writeIndexOf } from './metrics-reading.ts';
import { readTensors } from '../../../src-main/store/runs/safetensors-reader.ts';
import { DeviceLoadsTail } from '../../../src-main/store/metrics/device-loads.ts';
import { readCheckpointRecords, readFitted } from '../../../src-main/store/runs/checkpoint-records.ts';
import { findResumePoint } from '../../../src-main/store/runs/resume-point.ts';
import { readEvents, readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { readRunNotes } from '../../../src-main/store/runs/run-notes.ts';
import { loadState } from '../../../workers/checkpoints/training-state.ts';
import { calibratedSet } from '../../unit/postprocessing/recorded-file.ts';
import { runEvent, runRecord } from '../../unit/store/records.ts';
import type { FuzzTarget } from '../engine/target.ts';
import { fileTarget, json, text } from './files.ts';

const time = '2026-01-02T03:04:05.000Z';
const tensors = encodeSafetensors(
  [
    { name: 'dense/kernel', dtype: 'F32', shape: [2, 2], data: Float32Array.of(1, 2, 3, 4) },
    { name: 'step', dtype: 'I64', shape: [1], data: BigInt64Array.of(7n) },
  ],
  { data: '{"epoch":1}' },
);

const safetensors: FuzzTarget = {
  name: 'safetensors',
  reads: 'weights and states (core/safetensors)',
  seeds: async () => [tensors, encodeSafetensors([])],
  run: (bytes) => void decodeSafetensors(bytes),
  weight: 2,
};

const predictions = fileTarget({
  name: 'predictions',
  reads: 'kept predictions, as the pages read them',
  path: 'best.safetensors',
  seeds: async () => [
    encodeSafetensors([{ name: 'logits', dtype: 'F32', shape: [1, 2], data: Float32Array.of(1, 2) }], { epoch: '1' }),
  ],
  read: (folder) => readTensors(folder, 'best.safetensors'),
});

const record = fileTarget({
  name: 'run.json',
  reads: "a run's record",
  path: 'run.json',
  seeds: async () => [
    text(toJson(runRecord())),
    text(
      toJson(
        runRecord({
          hub: { host: 'h', pid: 1, socket: '/s' },
          attempts: [{ attempt: 1, startedAt: time, endedAt: null, status: 'running' }],
        }),
      ),
    ),
  ],
  read: readRunRecord,
});

const notes = fileTarget({
  name: 'notes.json',
  reads: "the user's notes on a run",
  path: 'notes.json',
  seeds: async () => [
    json({ name: 'n', tags: ['a'], note: 'text', isArchived: true, pinnedCheckpoints: [{ rank: 0, name: 'final' }] }),
  ],
  read: readRunNotes,
});

const postprocessing = fileTarget({
  name: 'postprocessing',
  reads: 'what was fitted for a set of checkpoints',
  path: postprocessingPath('final'),
  seeds: async () => [text(toJson(calibratedSet))],
  read: (folder) => readFitted(folder, postprocessingPath('final')),
});

const events = fileTarget({
  name: 'events.jsonl',
  reads: "a run's events",
  path: 'events.jsonl',
  seeds: async () => [
    text(`${toJson(runEvent())}\n${toJson(runEvent({ rank: 1, epoch: 2, step: 3, data: { a: [1] } }))}\n`),
  ],
  async read(folder) {
    await readEvents(folder, () => undefined);
    await readEvents(folder);
  },
});

const metrics = fileTarget({
  name: 'metrics.csv',
  reads: "a run's metrics: followed, read as a table, opened for a resume",
  path: 'metrics.csv',
  seeds: async () => [text('epoch,step,train/loss,val/ens_nll\n0,1,0.5,\n0,2,NaN,0.25\n1,4,-Infinity,1e-300\n')],
  read: metricsOf,
});

const metricsIndex = fileTarget({
  name: 'metrics.index',
  reads: "the index of a run's metrics",
  path: 'metrics.index',
  prepare: (folder) => writeFile(join(folder, 'metrics.csv'), 'epoch,step,train/loss\n0,1,0.5\n0,2,0.25\n'),
  seeds: async () => [await writeIndexOf('epoch,step,train/loss\n0,1,0.5\n0,2,0.25\n')],
  read: metricsOf,
});

const devices = fileTarget({
  name: 'devices.csv',
  reads: 'the loads of devices',
  path: 'devices.csv',
  seeds: async () => [text(`time,device,load,memory_bytes\n${time},cpu:0,0.500,1024\n${time},cpu:1,,\n`)],
  async read(folder) {
    const tail = new DeviceLoadsTail(folder);
    await tail.read();
    return tail.columns;
  },
});

const checkpointRecord = {
  format: 1,
  rank: 0,
  name: 'final',
  epoch: 1,
  step: 2,
  monitor: null,
  score: 'NaN',
  bytes: 3,
  savedAt: time,
};
const checkpoint = fileTarget({
  name: 'checkpoint-record',
  reads: 'the record of a checkpoint',
  path: join('checkpoints', 'rank-0', 'final.json'),
  seeds: async () => [json({ ...checkpointRecord, sha256: 'a'.repeat(64) })],
  async read(folder) {
    await readCheckpointRecords(folder, () => undefined);
    await readCheckpointRecords(folder);
  },
});

const stateRecord = (content: Uint8Array) => ({
  format: 1,
  rank: 0,
  round: 1,
  epoch: 1,
  step: 2,
  sha256: hash('sha256', content, 'hex'),
  bytes: content.length,
  savedAt: time,
});
const stateBase = join('state', 'rank-0', 'round-1');

const savedState = fileTarget({
  name: 'state-record',
  reads: 'the record of a saved state, by hub and worker',
  path: `${stateBase}.json`,
  prepare: (folder) => writeFile(join(folder, `${stateBase}.safetensors`), tensors),
  seeds: async () => [json(stateRecord(tensors))],
  async read(folder) {
    const failures = await Promise.allSettled([loadState(folder, 0, 1), findResumePoint(folder, [0])]);
    for (const result of failures) if (result.status === 'rejected') throw result.reason;
  },
});

const stateContent = fileTarget({
  name: 'state',
  reads: 'a saved state with a matching record',
  path: `${stateBase}.safetensors`,
  prepare: (folder) => mkdir(folder, { recursive: true }),
  seeds: async () => [tensors],
  async read(folder, file) {
    const { readFile } = await import('node:fs/promises');
    await writeFile(join(folder, `${stateBase}.json`), JSON.stringify(stateRecord(await readFile(file))));
    await loadState(folder, 0, 1);
  },
});

export const runFolderTargets = [
  safetensors,
  predictions,
  record,
  notes,
  postprocessing,
  events,
  metrics,
  metricsIndex,
  devices,
  checkpoint,
  savedState,
  stateContent,
];
