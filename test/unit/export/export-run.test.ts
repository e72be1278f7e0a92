import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFile, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FaultyDisk } from '../../faults/faulty-disk.ts';
import { openFolderSink, openZipSink } from '../../../src-main/export/sinks.ts';
import { exportRun } from '../../../src-main/export/export-run.ts';
import { appendEvent, createRunFolder } from '../../../src-main/store/runs/run-folder.ts';
import { temporaryFolder } from '../store/fixtures.ts';
import { runEvent, runRecord } from '../store/records.ts';
import { readEventFile } from './event-reader.ts';
import { readZip } from './zip-reader.ts';
import { notLinux, notRun } from '../../environment/reasons.ts';

const created = Date.parse('2026-01-02T03:04:05Z') / 1000;

async function write(folder: string, path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), content);
}

async function writeCheckpoint(folder: string, rank: number, name: string, weights: Buffer): Promise<void> {
  const record = {
    format: 1,
    rank,
    name,
    epoch: 1,
    step: 20,
    monitor: null,
    score: null,
    sha256: createHash('sha256').update(weights).digest('hex'),
    bytes: weights.length,
    savedAt: '2026-01-02T03:05:05.000Z',
  };
  await write(folder, `checkpoints/rank-${rank}/${name}.safetensors`, weights);
  await write(folder, `checkpoints/rank-${rank}/${name}.json`, JSON.stringify(record));
}

async function sampleRun(): Promise<string> {
  const folder = join(await temporaryFolder(), 'run');
  await createRunFolder(folder, runRecord({ status: 'finished', endedAt: '2026-01-02T03:06:05.000Z' }));
  await appendEvent(folder, runEvent({ kind: 'checkpoint', step: 10, time: '2026-01-02T03:05:05.000Z' }));
  await write(
    folder,
    'metrics.csv',
    'epoch,step,train/loss,val/ens_nll,val/member_0_nll,val/member_1_nll\n' +
      '1,20,,0.25,,\n0,10,0.5,,,\n0,5,NaN,,,\n1,20,,,0.5,Infinity\n1,15,0.125,,,\n0,1',
  );
  await writeCheckpoint(folder, 0, 'final', Buffer.alloc(300_000, 7));
  await writeCheckpoint(folder, 1, 'final', Buffer.from('weights'));
  await write(folder, 'logs/rank-0.log', 'hello\n');
  await write(folder, 'logs/rank-1.log', '');
  await write(folder, 'plots/summary.svg', '<svg/>');
  await write(folder, 'plots/summary.png.123-4.tmp', 'half');
  await write(folder, 'state/rank-0/state.bin', 'not exported');
  return folder;
}

async function readFolder(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents = await Promise.all(files.map((file) => readFile(file)));
  return new Map(files.map((file, index) => [relative(folder, file).split(sep).join('/'), contents[index]]));
}

const eventsName = `events.out.tfevents.${created}.tutti`;
const allPaths = [
  'checkpoints/rank-0/final.json',
  'checkpoints/rank-0/final.safetensors',
  'checkpoints/rank-1/final.json',
  'checkpoints/rank-1/final.safetensors',
  'events.jsonl',
  'logs/rank-0.log',
  'logs/rank-1.log',
  'metrics.csv',
  'metrics.jsonl',
  'plots/summary.svg',
  'run.json',
  `tensorboard/ensemble/${eventsName}`,
  `tensorboard/member-0/${eventsName}`,
  `tensorboard/member-1/${eventsName}`,
];

describe('exportRun', () => {
  it('exports everything to a folder, with metrics merged to one row per (epoch, step)', async () => {
    const folder = await sampleRun();
    const to = join(await temporaryFolder(), 'deep', 'export');
    const report = await exportRun(folder, { to, zip: false });
    expect(report.to).toBe(to);
    expect(report.skipped).toEqual([]);
    expect(report.paths.toSorted()).toEqual(allPaths);
    const files = await readFolder(to);
    expect([...files.keys()].sort()).toEqual(allPaths);
    expect(String(files.get('metrics.csv'))).toBe(
      'epoch,step,train/loss,val/ens_nll,val/member_0_nll,val/member_1_nll\n' +
        '0,5,NaN,,,\n0,10,0.5,,,\n1,15,0.125,,,\n1,20,,0.25,0.5,Infinity\n',
    );
    expect(String(files.get('metrics.jsonl'))).toBe(
      '{"epoch":0,"step":5,"train/loss":"NaN"}\n{"epoch":0,"step":10,"train/loss":0.5}\n' +
        '{"epoch":1,"step":15,"train/loss":0.125}\n' +
        '{"epoch":1,"step":20,"val/ens_nll":0.25,"val/member_0_nll":0.5,"val/member_1_nll":"Infinity"}\n',
    );
    for (const path of ['run.json', 'events.jsonl', 'logs/rank-0.log', 'checkpoints/rank-0/final.safetensors']) {
      expect(files.get(path)).toEqual(await readFile(join(folder, path)));
    }
  });

  it('writes ensemble and members to TensorBoard under one tag, at the time of each step', async () => {
    const to = join(await temporaryFolder(), 'export');
    await exportRun(await sampleRun(), { to, zip: false, formats: ['tensorboard'] });
    const files = await readFolder(to);
    const read = (run: string) => readEventFile(files.get(`tensorboard/${run}/${eventsName}`) ?? Buffer.alloc(1));
    const version = { wallTimeSeconds: created, step: 0, fileVersion: 'brain.Event:2', scalars: [] };
    const event = (wallTimeSeconds: number, step: number, tag: string, value: number) => ({
      wallTimeSeconds,
      step,
      fileVersion: null,
      scalars: [[tag, value]],
    });
    // Created at second 0, with an event at step 10 and second 60. Ended at step 20 and second 120.
    expect(read('ensemble')).toEqual([
      version,
      event(created + 30, 5, 'train/loss', Number.NaN),
      event(created + 60, 10, 'train/loss', 0.5),
      event(created + 90, 15, 'train/loss', 0.125),
      event(created + 120, 20, 'val/nll', 0.25),
    ]);
    expect(read('member-0')).toEqual([version, event(created + 120, 20, 'val/nll', 0.5)]);
    expect(read('member-1')).toEqual([version, event(created + 120, 20, 'val/nll', Infinity)]);
  });

  it('reads past a damaged event, with a warning', async () => {
    const folder = await sampleRun();
    await appendFile(join(folder, 'events.jsonl'), 'damaged\n');
    const to = join(await temporaryFolder(), 'export');
    const { paths, warnings } = await exportRun(folder, { to, zip: false, formats: ['tensorboard'] });
    expect(paths).toContain(`tensorboard/ensemble/${eventsName}`);
    expect(warnings).toEqual([expect.stringContaining(`${join(folder, 'events.jsonl')}, line 2 is not whole JSON`)]);
  });

  it('keeps the full name of an ensemble metric whose short name is taken', async () => {
    const folder = await sampleRun();
    await write(folder, 'metrics.csv', 'epoch,step,val/ens_nll,val/nll,val/avg_member_mse,ens_std\n0,1,1,2,3,4\n');
    const to = join(await temporaryFolder(), 'export');
    await exportRun(folder, { to, zip: false, formats: ['tensorboard'] });
    const [, event] = readEventFile(await readFile(join(to, 'tensorboard', 'ensemble', eventsName)));
    expect(event.scalars).toEqual([
      ['val/ens_nll', 1],
      ['val/nll', 2],
      ['val/avg_member_mse', 3],
      ['std', 4],
    ]);
  });

  it('exports the same files into one ZIP, with weights stored uncompressed', async () => {
    const folder = await sampleRun();
    const [to, zip] = [join(await temporaryFolder(), 'export'), join(await temporaryFolder(), 'sub', 'run.zip')];
    await exportRun(folder, { to, zip: false });
    const report = await exportRun(folder, { to: zip, zip: true });
    expect(report.paths.toSorted()).toEqual(allPaths);
    const archive = await readFile(zip);
    expect(readZip(archive)).toEqual(await readFolder(to));
    expect(archive.includes(Buffer.alloc(300_000, 7))).toBe(true);
    expect(await readdir(dirname(zip))).toEqual(['run.zip']);
  });

  it('skips invalid checkpoints, and reports which and why', async () => {
    const folder = await sampleRun();
    await write(folder, 'checkpoints/rank-0/orphan.safetensors', 'weights');
    await writeCheckpoint(folder, 0, 'short', Buffer.from('weights'));
    await write(folder, 'checkpoints/rank-0/short.safetensors', 'weight');
    await writeCheckpoint(folder, 0, 'flipped', Buffer.from('weights'));
    await write(folder, 'checkpoints/rank-0/flipped.safetensors', 'Weights');
    await write(folder, 'checkpoints/rank-1/final.json', '{"format":1');
    const to = join(await temporaryFolder(), 'export');
    const report = await exportRun(folder, { to, zip: false, formats: ['checkpoints'] });
    expect(report.skipped).toEqual([
      { path: 'checkpoints/rank-0/flipped.safetensors', reason: 'its SHA-256 is not the one in its .json' },
      {
        path: 'checkpoints/rank-0/orphan.safetensors',
        reason: 'its .json is missing, so it was not written completely',
      },
      { path: 'checkpoints/rank-0/short.safetensors', reason: 'it has 6 bytes, but its .json says 7' },
      { path: 'checkpoints/rank-1/final.safetensors', reason: 'its record checkpoints/rank-1/final.json is damaged' },
    ]);
    expect([...(await readFolder(to)).keys()].sort()).toEqual([
      'checkpoints/rank-0/final.json',
      'checkpoints/rank-0/final.safetensors',
    ]);
  });

  it('finds the weights of a save that was interrupted after its .json', async () => {
    const folder = await sampleRun();
    await writeCheckpoint(folder, 0, 'best', Buffer.from('new weights'));
    await write(folder, 'checkpoints/rank-0/best.safetensors.next', 'new weights');
    await write(folder, 'checkpoints/rank-0/best.safetensors', 'old weights');
    const to = join(await temporaryFolder(), 'export');
    expect((await exportRun(folder, { to, zip: false, formats: ['checkpoints'] })).skipped).toEqual([]);
    expect(await readFile(join(to, 'checkpoints/rank-0/best.safetensors'), 'utf8')).toBe('new weights');
    expect((await readFolder(to)).size).toBe(6);
  });

  it('exports a run that has not started', async () => {
    const folder = join(await temporaryFolder(), 'run');
    await createRunFolder(folder, runRecord());
    const report = await exportRun(folder, { to: join(await temporaryFolder(), 'export'), zip: false });
    expect(report.paths).toEqual(['run.json', 'metrics.csv', 'metrics.jsonl']);
  });
});

describe('exportRun refuses', () => {
  it('a folder that is not empty, unless it may overwrite, and then keeps foreign files', async () => {
    const folder = await sampleRun();
    const to = await temporaryFolder();
    await write(to, 'mine.txt', 'mine');
    await write(to, 'run.json', 'old');
    await expect(exportRun(folder, { to, zip: false })).rejects.toThrow(
      /is not empty \(it holds mine\.txt, run\.json\)/,
    );
    expect((await readFolder(to)).size).toBe(2);
    await exportRun(folder, { to, zip: false, overwrite: true });
    expect((await readFolder(to)).size).toBe(allPaths.length + 1);
    expect(await readFile(join(to, 'mine.txt'), 'utf8')).toBe('mine');
  });

  it('an existing ZIP, and a folder in place of a ZIP', async () => {
    const folder = await sampleRun();
    const to = await temporaryFolder();
    await write(to, 'run.zip', 'old');
    await expect(exportRun(folder, { to: join(to, 'run.zip'), zip: true })).rejects.toThrow('run.zip exists');
    await expect(exportRun(folder, { to, zip: true })).rejects.toThrow('is a folder, but a ZIP is one file');
    await exportRun(folder, { to: join(to, 'run.zip'), zip: true, overwrite: true });
    expect(readZip(await readFile(join(to, 'run.zip'))).size).toBe(allPaths.length);
  });

  it("the run's folder, and a folder without a run", async () => {
    const folder = await sampleRun();
    for (const to of [folder, join(folder, 'export')]) {
      await expect(exportRun(folder, { to, zip: false, overwrite: true })).rejects.toThrow(
        "is in the run's own folder",
      );
    }
    const empty = await temporaryFolder();
    const to = join(empty, 'export');
    await expect(exportRun(join(empty, 'no-run'), { to, zip: false })).rejects.toThrow('holds no run');
    expect(await readdir(empty)).toEqual([]);
  });
});

describe('exportRun on failures', () => {
  it('leaves no ZIP behind, and does not damage the old one', async () => {
    const folder = await sampleRun();
    await write(folder, 'metrics.csv', 'not a header\n0,1,1\n');
    const to = await temporaryFolder();
    await write(to, 'run.zip', 'old');
    const failing = exportRun(folder, { to: join(to, 'run.zip'), zip: true, overwrite: true });
    await expect(failing).rejects.toThrow('metrics.csv');
    expect(await readdir(to)).toEqual(['run.zip']);
    expect(await readFile(join(to, 'run.zip'), 'utf8')).toBe('old');
  });

  it('exports the rest if an entry is no file', async () => {
    const folder = await sampleRun();
    await rm(join(folder, 'events.jsonl'));
    await mkdir(join(folder, 'events.jsonl'));
    const to = await temporaryFolder();
    for (const zip of [true, false]) {
      const report = await exportRun(folder, { to: join(to, `export-${zip}`), zip, formats: ['record'] });
      expect(report.skipped).toEqual([{ path: 'events.jsonl', reason: 'it is not a regular file' }]);
      expect(report.paths).toEqual(['run.json']);
    }
  });

  it.each([
    ['a ZIP', openZipSink, []],
    ['a folder', openFolderSink, ['export']],
  ] as const)('reports a source that fails in the middle of %s', async (_where, openSink, left) => {
    const to = await temporaryFolder();
    const sink = await openSink(join(to, 'export'), false);
    const failure = new Error('EIO: i/o error, read');
    async function* half(): AsyncGenerator<Buffer> {
      yield Buffer.from('half');
      throw failure;
    }
    const entry = { path: 'logs/rank-0.log', compress: true, open: () => Readable.from(half()) };
    await expect(sink.add(entry)).rejects.toThrow('EIO');
    await sink.abort(failure);
    expect(await readdir(to)).toEqual(left);
  });

  it.skipIf(notLinux !== null)(`ends when the disk is full${notRun(notLinux)}`, async () => {
    const folder = await sampleRun();
    const to = await temporaryFolder();
    const script = join(import.meta.dirname, 'export-past-limit.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [script, folder, join(to, 'run.zip')]);
    expect(stdout).toMatch(/Cannot write .*run\.zip.*\(EFBIG\)/);
    expect(await readdir(to)).toEqual([]);
  });

  it.each([true, false])('names the bytes and the flag when the disk is full (ZIP: %s)', async (zip) => {
    const folder = await sampleRun();
    const to = join(await temporaryFolder(), 'export');
    const disk = FaultyDisk.install(dirname(to));
    onTestFinished(() => disk.remove());
    disk.fault = ({ name }) => (name === 'writeFile' ? { code: 'ENOSPC' } : null);
    await expect(exportRun(folder, { to, zip })).rejects.toThrow(
      /^Cannot export to .*export: the disk is full \(ENOSPC\)\. An export of this run takes up to 29\d KiB, and [\d.]+ [KMGT]iB are free there\. .*--to/,
    );
    disk.fault = ({ name }) => (name === 'writeFile' ? { code: 'EROFS' } : null);
    await expect(exportRun(folder, { to, zip, overwrite: true })).rejects.toThrow(/choose another folder with --to\.$/);
  });
});
