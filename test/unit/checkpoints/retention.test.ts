import fc from 'fast-check';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type RetentionPolicy, supersededCheckpoints } from '../../../workers/checkpoints/retention.ts';
import { listCheckpoints } from '../../../workers/checkpoints/checkpoint-store.ts';
import { RunFiles } from '../../../workers/member/run-files.ts';

const all: RetentionPolicy = { keepLast: 0, keepTop: 3, mode: 'min', quotaBytes: null };
const none: ReadonlySet<string> = new Set();
const record = (name: string, epoch: number, score: number | null = null, bytes = 100) => ({
  name,
  epoch,
  score,
  bytes,
});
const epochs = [2, 0, 1, 3].map((epoch) => record(`epoch-0000${epoch}`, epoch));
const tops = [0.4, 0.1, 0.3, 0.2].map((score, epoch) => record(`top-0000${epoch}`, epoch, score));

describe('the retention of checkpoints', () => {
  it('keeps the newest numbered ones', () => {
    expect(supersededCheckpoints(epochs, { ...all, keepLast: 2 }, 'epoch-00003', none)).toEqual([
      'epoch-00000',
      'epoch-00001',
    ]);
    expect(supersededCheckpoints(epochs, all, 'epoch-00003', none)).toEqual([]);
  });

  it('keeps the best ones, smaller or larger, and of equal ones the earlier', () => {
    expect(supersededCheckpoints(tops, all, 'top-00003', none)).toEqual(['top-00000']);
    expect(supersededCheckpoints(tops, { ...all, keepTop: 2, mode: 'max' }, 'top-00003', none)).toEqual(['top-00001']);
    const equal = [record('top-00000', 0, 1), record('top-00001', 1, 1), record('top-00002', 2, 1)];
    expect(supersededCheckpoints(equal, { ...all, keepTop: 1 }, 'other', none)).toEqual(['top-00002', 'top-00001']);
  });

  it('stays within a quota: the oldest go first, then the worst of the best; named ones stay', () => {
    const named = [record('ensemble-best', 1, 0.1), record('final', 3), record('requested-7', 2)];
    const quota = (bytes: number) =>
      supersededCheckpoints(
        [...named, ...epochs, ...tops.slice(1)],
        { ...all, quotaBytes: bytes },
        'epoch-00003',
        none,
      );
    expect(quota(1000)).toEqual([]);
    expect(quota(999)).toEqual(['epoch-00000']);
    expect(quota(600)).toEqual(['epoch-00000', 'epoch-00001', 'epoch-00002', 'top-00002']);
    // What was just saved stays even where the quota is too small for it.
    expect(quota(0)).toEqual(['epoch-00000', 'epoch-00001', 'epoch-00002', 'top-00002', 'top-00003', 'top-00001']);
  });

  it('never removes what a user pinned, what was just saved, or more than needed', () => {
    const records = fc.uniqueArray(
      fc.record({
        kind: fc.constantFrom('epoch', 'top', 'requested'),
        epoch: fc.nat(9),
        score: fc.option(fc.integer({ min: 0, max: 3 })),
        bytes: fc.integer({ min: 1, max: 50 }),
        isPinned: fc.boolean(),
      }),
      { selector: ({ kind, epoch }) => `${kind}-${epoch}`, minLength: 1 },
    );
    const policies = fc.record({
      keepLast: fc.nat(4),
      keepTop: fc.nat(4),
      mode: fc.constantFrom('min' as const, 'max' as const),
      quotaBytes: fc.option(fc.nat(200)),
    });
    fc.assert(
      fc.property(records, policies, (drawn, policy) => {
        const kept = drawn.map(({ kind, epoch, score, bytes }) => record(`${kind}-${epoch}`, epoch, score, bytes));
        const pinned = new Set(drawn.flatMap(({ isPinned }, i) => (isPinned ? [kept[i].name] : [])));
        const saved = kept[0].name;
        const removed = supersededCheckpoints(kept, policy, saved, pinned);
        expect(removed.filter((name) => pinned.has(name) || name === saved || name.startsWith('requested'))).toEqual(
          [],
        );
        expect(new Set(removed).size).toBe(removed.length);
        const bytesOf = (names: readonly string[]) =>
          kept.reduce((sum, { name, bytes }) => sum + (names.includes(name) ? 0 : bytes), 0);
        // Without the last removal a count or the quota would be exceeded.
        const counts = supersededCheckpoints(kept, { ...policy, quotaBytes: null }, saved, pinned);
        const isNeeded =
          counts.includes(removed.at(-1) ?? '') || bytesOf(removed.slice(0, -1)) > (policy.quotaBytes ?? Infinity);
        expect(isNeeded || removed.length === 0).toBe(true);
      }),
      { numRuns: 300, seed: 12 },
    );
  });
});

it('a rank removes superseded checkpoints after the new one is on the disk, and keeps those pinned in notes.json', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-retention-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const files = new RunFiles(folder, 1);
  const save = async (epoch: number) => {
    const name = `epoch-0000${epoch}`;
    const tensors = [{ name: 'w', dtype: 'F32' as const, shape: [1], data: new Float32Array([epoch]) }];
    await files.saveCheckpoint(tensors, { name, epoch, step: epoch, monitor: null, score: null, model: undefined });
    return files.removeSuperseded({ ...all, keepLast: 1 }, name);
  };
  await save(0);
  await writeFile(join(folder, 'notes.json'), '{ "pinnedCheckpoints": [{ "rank": 1, "name": "epoch-00000" }] }');
  for (const epoch of [1, 2, 3]) await save(epoch);
  const names = async () => (await listCheckpoints(folder)).map(({ name }) => name);
  expect(await names()).toEqual(['epoch-00000', 'epoch-00003']);
  await writeFile(join(folder, 'notes.json'), '{ "pinnedCheckpoints": [{ "rank": 1, "na');
  expect(await save(4)).toMatch(
    /notes\.json cannot be read, so that no checkpoint is removed: .*Correct or remove it\.$/,
  );
  expect(await names()).toEqual(['epoch-00000', 'epoch-00003', 'epoch-00004']);
});
