import { mkdtemp, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { decodeRpc, encodeRpc } from '../../../core/protocol/pages/rpc.ts';
import { Hub } from '../../../src-main/hub/hub.ts';
import type { PageWire } from '../../../src-main/rpc/connection.ts';
import { HubService } from '../../../src-main/rpc/hub-service.ts';
import { createRunFolder } from '../../../src-main/store/runs/run-folder.ts';
import type { FuzzTarget } from '../engine/target.ts';
import { runRecord } from '../../unit/store/records.ts';
import { json } from './files.ts';

/**
 * Calls that start programs: a doctor, a file manager, ssh, workers that evaluate and calibrate. Their arguments are
 * checked like all others.
 */
const startPrograms = new Set(['health', 'openFolder', 'attachRun', 'evaluateSet', 'calibrate']);
/** What V8 and Node say of a mistake in the code. A method's own errors speak of runs and files. */
const languageError =
  /Cannot (read|set|convert|mix|destructure)|is not (a function|iterable|defined)|Invalid (array|typed array|string) length|Maximum call stack|must be (of type|an? instance)|out of range|Invalid time value/;

const callSchema = z.object({ m: z.string(), a: z.array(z.unknown()) });
const answerSchema = z.looseObject({ e: z.instanceof(Error).optional() });

interface Service {
  home: string;
  hub: Hub;
  service: HubService;
  send: (bytes: Uint8Array) => void;
  /** Resolves with the next answer, or with null when the hub refused the page. */
  answer: () => Promise<Uint8Array | null>;
}

async function openService(): Promise<Service> {
  const home = await mkdtemp(join(tmpdir(), 'tutti-fuzz-'));
  process.env.TUTTI_HOME = home;
  const hub = await Hub.open();
  const service = await HubService.open(hub, {
    frontEnd: 'browser',
    exportLink: (name) => name,
    links: null,
    openPath: null,
    onError: () => undefined,
  });
  let receive: (bytes: Uint8Array) => void = () => undefined;
  let answered = Promise.withResolvers<Uint8Array | null>();
  const connect = (): void => {
    const wire: PageWire = {
      send: (bytes) => {
        const message = decodeRpc(bytes);
        // The hub also calls the page, when a list changes.
        if (z.looseObject({ t: z.literal('s') }).safeParse(message).success) answered.resolve(bytes);
      },
      onMessage: (receiver) => void (receive = receiver),
      refuse: () => answered.resolve(null),
    };
    service.connect(wire, 'owner');
  };
  connect();
  return {
    home,
    hub,
    service,
    send: (bytes) => receive(bytes),
    async answer() {
      const bytes = await answered.promise;
      answered = Promise.withResolvers();
      if (bytes === null) connect();
      return bytes;
    },
  };
}

async function ensureRun({ home, hub }: Service): Promise<void> {
  const folder = join(home, 'runs', 'run-1');
  if (existsSync(join(folder, 'run.json'))) return;
  await rm(folder, { recursive: true, force: true });
  const record = runRecord({ status: 'finished', plan: [], endedAt: '2026-01-02T03:05:05.000Z' });
  await createRunFolder(folder, record);
  hub.index.upsert(record, folder);
}

const id = 'run-1';
const request = { projectFolder: '/projects/none', overrides: { members: 2 }, name: null, out: null };
const examples: [method: string, args: unknown[]][] = [
  ['projects', []], ['projectCard', ['/projects/none']], ['openPath', ['/projects/none']], ['openPath', ['/none/run.tutti']], ['forgetProject', ['/projects/none']],
  ['describeProject', ['/projects/none']], ['previewRun', [request]], ['startRun', [request]], ['previewResume', [id, { maxEpochs: 3 }]],
  ['resumeRun', [id, {}]], ['runOverview', []],
  ['runs', [{ search: 'a', sort: { by: 'best', isDescending: true }, limit: 5 }]],
  ['updateRun', [id, { name: 'n', tags: ['a'], note: 'text', isArchived: false }]],
  ['deleteRun', [id]], ['undoDelete', [id]], ['run', [id]], ['attemptCommands', [id]],
  ['series', [id, { names: ['train/loss'], maximumPoints: 100, fromStep: null, toStep: 5 }]], ['deviceLoads', [id]],
  ['logs', [id, { ranks: [0], limit: 10 }]], ['control', [id, { action: 'stop-rank', rank: 0 }]], ['abort', [id]], ['checkpoints', [id]],
  ['pinCheckpoints', [id, { checkpoints: [{ rank: 0, name: 'final' }], isPinned: true }]],
  ['deleteCheckpoints', [id, { checkpoints: [{ rank: 0, name: 'final' }] }]],
  ['predictions', [id, { split: 'test', name: 'best' }]], ['predictionNames', [id]], ['postprocessing', [id]], ['sampleForm', [id]],
  ['sampleInputs', [id, { split: 'validation', samples: [0, 1] }]],
  ['openUpload', [{ ending: 'csv', bytes: 9 }]], ['sendPart', ['c2d29867-3d0b-4497-9191-18a9d8ee7830', '1,2']],
  ['importRun', [{ upload: 'c2d29867-3d0b-4497-9191-18a9d8ee7830', name: 'run.tutti' }]], ['dropUpload', ['c2d29867-3d0b-4497-9191-18a9d8ee7830']],
  ['predictSamples', [id, { upload: 'c2d29867-3d0b-4497-9191-18a9d8ee7830' }]],
  ['predictSamples', [id, { ending: 'csv', bytes: '1,2' }]], ['reportRun', [id]],
  ['exportRun', [id, { formats: ['csv'], checkpoints: null }]], ['watch', [id]], ['unwatch', [id]], ['health', ['x']], ['openFolder', ['x']],
]; // prettier-ignore

let opened: Promise<Service> | null = null;

/** Calls of a page, as JSON: the method and its arguments, with the wire's own encoding around them. */
export const calls: FuzzTarget = {
  name: 'calls',
  reads: "each procedure's arguments, against a real hub service",
  seeds: async () => examples.map(([m, a]) => json({ m, a })),
  async run(bytes) {
    const parsed = callSchema.safeParse(parseJson(bytes));
    if (!parsed.success || (startPrograms.has(parsed.data.m) && parsed.data.a.every((value) => value !== 'x'))) return;
    const service = await (opened ??= openService());
    await ensureRun(service);
    service.send(encodeRpc({ t: 'q', i: 'call', ...parsed.data }));
    const answer = await service.answer();
    if (answer === null) throw new Error('The hub refused the page.');
    const { e: error } = answerSchema.parse(decodeRpc(answer));
    if (error !== undefined && languageError.test(error.message)) throw new TypeError(error.message);
    if (error !== undefined) throw error;
  },
  weight: 0.25,
  async close() {
    const service = await opened;
    opened = null;
    if (service === null) return;
    await service.service.close();
    service.hub.close();
    await rm(service.home, { recursive: true, force: true });
  },
};

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString(), (key, value: unknown) =>
      // JSON has no bytes, which samples consist of.
      key === 'bytes' && typeof value === 'string' ? new TextEncoder().encode(value) : value,
    );
  } catch {
    return null;
  }
}
