import fc from 'fast-check';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type RetentionPolicy, supersededCheckpoints } from '../../../workers/checkpoints/retention.ts';
import { checkpointsOf } from '../../../workers/checkpoints/checkpoint-store.ts';
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

  it('keeps all while fewer than the counts exist', () => {
    for (const count of [0, 1, 2, 3, 4, 5]) {
      const best = tops.slice(0, count);
      expect(supersededCheckpoints(best, { ...all, keepTop: 5 }, 'other', none)).toEqual([]);
      expect(supersededCheckpoints(epochs.slice(0, count), { ...all, keepLast: 5 }, 'other', none)).toEqual([]);
    }
    // Four remain of which five are wanted, and three of which two are.
    expect(supersededCheckpoints([...tops, ...epochs], { ...all, keepTop: 5, keepLast: 3 }, 'other', none)).toEqual([
      'epoch-00000',
    ]);
  });

  const drawnRecords = fc.uniqueArray(
    fc.record({
      kind: fc.constantFrom('epoch', 'top', 'requested'),
      epoch: fc.nat(9),
      score: fc.option(fc.integer({ min: 0, max: 3 })),
      bytes: fc.integer({ min: 1, max: 50 }),
      isPinned: fc.boolean(),
    }),
    { selector: ({ kind, epoch }) => `${kind}-${epoch}`, minLength: 1 },
  );
  const drawnCounts = fc.record({
    keepLast: fc.nat(4),
    keepTop: fc.nat(4),
    mode: fc.constantFrom('min' as const, 'max' as const),
  });

  /** Draws whose first record was just saved; `others` may go unless they are requested. */
  const drawn = drawnRecords.map((drafts) => {
    const records = drafts.map(({ kind, epoch, score, bytes }) => record(`${kind}-${epoch}`, epoch, score, bytes));
    const pinned = new Set(drafts.flatMap(({ isPinned }, i) => (isPinned ? [records[i].name] : [])));
    const saved = records[0].name;
    const others = records.filter(({ name }) => name !== saved && !pinned.has(name) && !name.startsWith('requested'));
    return { records, pinned, saved, others };
  });
  type Kept = ReturnType<typeof record>;

  /**
   * How many of the same kind come before a checkpoint: newer numbered ones; better ones, or equal and earlier. A
   * missing score is the worst.
   */
  function placeOf(one: Kept, records: readonly Kept[], mode: 'min' | 'max'): number {
    const loss = ({ score }: Kept) => (score === null ? Infinity : mode === 'min' ? score : -score);
    const isTop = one.name.startsWith('top');
    return records.filter((other) => {
      if (other === one || other.name.split('-')[0] !== one.name.split('-')[0]) return false;
      if (!isTop) return other.epoch > one.epoch;
      return loss(other) < loss(one) || (loss(other) === loss(one) && other.epoch < one.epoch);
    }).length;
  }

  it('without a quota removes exactly those before which as many newer or better ones stand as shall stay', () => {
    fc.assert(
      fc.property(drawn, drawnCounts, ({ records, pinned, saved, others }, counts) => {
        const isBeyond = (one: Kept): boolean => {
          const place = placeOf(one, records, counts.mode);
          if (one.name.startsWith('top')) return place >= counts.keepTop;
          return counts.keepLast > 0 && place >= counts.keepLast;
        };
        const removed = supersededCheckpoints(records, { ...counts, quotaBytes: null }, saved, pinned);
        expect(removed.toSorted()).toEqual(others.flatMap((one) => (isBeyond(one) ? [one.name] : [])).toSorted());
      }),
      { numRuns: 500, seed: 12 },
    );
  });

  it('for a quota removes as few more as it takes: the oldest numbered ones, then the worst of the best', () => {
    fc.assert(
      fc.property(drawn, drawnCounts, fc.nat(200), ({ records, pinned, saved, others }, { mode }, quotaBytes) => {
        // Counts that remove nothing, so that only the quota does.
        const policy = { keepLast: 0, keepTop: 99, mode, quotaBytes };
        const removed = supersededCheckpoints(records, policy, saved, pinned);
        const order = others.toSorted((one, other) => {
          const kinds = Number(one.name.startsWith('top')) - Number(other.name.startsWith('top'));
          return kinds || placeOf(other, records, mode) - placeOf(one, records, mode);
        });
        expect(removed).toEqual(order.slice(0, removed.length).map(({ name }) => name));
        const left = (gone: number) =>
          records.reduce((sum, { bytes }) => sum + bytes, 0) -
          order.slice(0, gone).reduce((sum, { bytes }) => sum + bytes, 0);
        expect(removed.length === order.length || left(removed.length) <= quotaBytes).toBe(true);
        expect(removed.length === 0 || left(removed.length - 1) > quotaBytes).toBe(true);
      }),
      { numRuns: 500, seed: 12 },
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
  const names = async () => (await checkpointsOf(folder, 1)).map(({ name }) => name);
  expect(await names()).toEqual(['epoch-00000', 'epoch-00003']);
  await writeFile(join(folder, 'notes.json'), '{ "pinnedCheckpoints": [{ "rank": 1, "na');
  expect(await save(4)).toMatch(
    /notes\.json cannot be read, so that no checkpoint is removed: .*Correct or remove it\.$/,
  );
  expect(await names()).toEqual(['epoch-00000', 'epoch-00003', 'epoch-00004']);
});
