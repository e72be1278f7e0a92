import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  appendEvent,
  createRunFolder,
  readEvents,
  readRunRecord,
  writeRunRecord,
} from '../../../../src-main/store/runs/run-folder.ts';
import { temporaryFolder } from '../fixtures.ts';
import { runEvent, runRecord } from '../records.ts';

describe('the run record', () => {
  it('reads back as written, including NaN and infinities', async () => {
    const folder = join(await temporaryFolder(), 'deep', 'run');
    await createRunFolder(folder, runRecord());
    const metrics = { 'val/ens_nll': Number.NaN, 'val/ens_mse': Infinity, 'train/loss': 0.1 };
    const summary = {
      attempt: 1,
      epochs: 3,
      steps: 30,
      stopReason: 'completed' as const,
      metrics,
      best: { metric: 'val/ens_nll', value: -Infinity, epoch: 1, step: 20 },
      evaluatedSets: [],
    };
    await writeRunRecord(folder, runRecord({ status: 'finished', summary }));
    expect(await readRunRecord(folder)).toEqual(runRecord({ status: 'finished', summary }));
  });

  it('names the run that a folder already holds, its status and both remedies', async () => {
    const folder = await temporaryFolder();
    await createRunFolder(folder, runRecord({ id: 'run-7', status: 'stopped' }));
    await expect(createRunFolder(folder, runRecord())).rejects.toThrow(
      `${folder} already holds the run run-7 ("first", stopped): a folder holds one run. ` +
        'Choose another folder with --out, or continue that run with `tutti resume run-7`.',
    );
  });

  it('lets exactly one of two concurrent creators succeed', async () => {
    const folder = await temporaryFolder();
    const ids = ['a', 'b', 'c', 'd'];
    const results = await Promise.allSettled(ids.map((id) => createRunFolder(folder, runRecord({ id }))));
    const winners = ids.filter((_, index) => results[index].status === 'fulfilled');
    expect(winners).toHaveLength(1);
    expect((await readRunRecord(folder)).id).toBe(winners[0]);
  });

  it('refuses a folder with the remains of another run', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'metrics.csv'), 'epoch,step\n');
    await expect(createRunFolder(folder, runRecord())).rejects.toThrow('holds metrics.csv but no run.json');
  });

  it('accepts a folder with other files in it', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'notes.txt'), 'mine');
    await createRunFolder(folder, runRecord());
    expect(await readFile(join(folder, 'notes.txt'), 'utf8')).toBe('mine');
  });

  it("reports that part of the folder's path is a file", async () => {
    const path = join(await temporaryFolder(), 'file');
    await writeFile(path, '');
    await expect(createRunFolder(join(path, 'run'), runRecord())).rejects.toThrow('(ENOTDIR)');
  });

  it('reports whether run.json is missing, truncated or in another format', async () => {
    const folder = await temporaryFolder();
    await expect(readRunRecord(folder)).rejects.toThrow('holds no run: it has no run.json');
    await createRunFolder(folder, runRecord());
    const path = join(folder, 'run.json');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.slice(0, 100));
    await expect(readRunRecord(folder)).rejects.toThrow('run.json is damaged (100 characters, not whole JSON)');
    await writeFile(path, text.replace('"created"', '"paused"'));
    await expect(readRunRecord(folder)).rejects.toThrow(/does not follow the format of a run record[^]*at status/);
  });

  it('refuses a hash of the source that is a path: it names a folder', async () => {
    const folder = await temporaryFolder();
    const attempt = { attempt: 1, startedAt: '2026-01-02T03:04:05.000Z', endedAt: null, status: 'created' } as const;
    const crafted = `../${'a'.repeat(61)}`;
    await createRunFolder(folder, runRecord({ attempts: [{ ...attempt, sourceHash: crafted }] }));
    await expect(readRunRecord(folder)).rejects.toThrow(
      /does not follow the format[^]*must be a SHA-256 in 64 hexadecimal digits[^]*sourceHash/,
    );
    const path = join(folder, 'run.json');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace(crafted, 'A'.repeat(64)));
    await expect(readRunRecord(folder)).rejects.toThrow('sourceHash');
    await writeFile(path, text.replace(crafted, 'a'.repeat(64)));
    expect((await readRunRecord(folder)).attempts[0].sourceHash).toBe('a'.repeat(64));
  });
});

describe('events', () => {
  it('are read in the order written, with their defaults', async () => {
    const folder = await temporaryFolder();
    expect(await readEvents(folder)).toEqual([]);
    await appendEvent(folder, runEvent({ message: 'one' }), { durable: true });
    await appendEvent(folder, runEvent({ message: 'two\nlines', data: { loss: Number.NaN } }));
    expect(await readEvents(folder)).toEqual([
      runEvent({ message: 'one' }),
      runEvent({ message: 'two\nlines', data: { loss: 'NaN' } }),
    ]);
  });

  it('silently drop only a last line that a crash truncated', async () => {
    const folder = await temporaryFolder();
    await appendEvent(folder, runEvent({ message: 'one' }));
    await appendFile(join(folder, 'events.jsonl'), '{"time":"2026-01-02T');
    expect(await readEvents(folder)).toEqual([runEvent({ message: 'one' })]);
  });

  it.each([
    ['is not whole JSON', '{"time":"2026-01-02T'],
    ['is not an event', '{"kind":"x"}\n'],
    ['is not whole JSON', '\u0000\u0000\n'],
  ])('name a damaged line in the middle, which %s, with file, line and remedy', async (problem, damage) => {
    const folder = await temporaryFolder();
    const path = join(folder, 'events.jsonl');
    await appendEvent(folder, runEvent({ message: 'one' }));
    await appendFile(path, damage);
    await appendEvent(folder, runEvent({ message: 'three' }));
    const rule = new RegExp(`events\\.jsonl, line 2 ${problem}[^]*[Rr]emove`);
    await expect(readEvents(folder)).rejects.toThrow(rule);
    const damages: string[] = [];
    const events = await readEvents(folder, ({ message }) => void damages.push(message));
    expect(events.map(({ message }) => message)).toEqual(['one', 'three']);
    expect(damages).toEqual([expect.stringMatching(rule)]);
  });

  it('say where they could not be written', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'events.jsonl'));
    await expect(appendEvent(folder, runEvent())).rejects.toThrow(/Cannot append to .*events\.jsonl.*EISDIR/);
  });
});
