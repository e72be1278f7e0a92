import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../core/protocol/run/config.ts';
import { train, useHub } from './harness.ts';

const { hub } = useHub();

/** The messages of a run's notes on its training. */
async function notesOf(config: RunConfigInput): Promise<string[]> {
  const { record, folder } = await train(hub(), 'silent', { members: 3, devices: 'cpu:0', maxEpochs: 2, ...config });
  expect(record.status).toBe('finished');
  const events = (await readFile(join(folder, 'events.jsonl'), 'utf8')).trim().split('\n');
  const parsed = events.map((line) => JSON.parse(line) as { kind: string; message: string });
  return parsed.filter(({ kind }) => kind === 'training-note').map(({ message }) => message);
}

const both = { hyperparameters: { seeded: true, normalized: true } };

describe('a run that would go wrong in silence', () => {
  it('warns once for all ranks, each with a worker of its own', async () => {
    const notes = await notesOf(both);
    expect(notes).toEqual([
      expect.stringContaining('Use --drop-last'),
      expect.stringContaining('Members 0, 1, 2 start with the same weights'),
    ]);
  });

  it('warns once for all members that are stacked in one worker', async () => {
    const notes = await notesOf({ ...both, membersPerDevice: 3 });
    expect(notes).toHaveLength(2);
  });

  it('warns once for members of different waves that learn the same from full batches', async () => {
    const seeded = { hyperparameters: { seeded: true }, placement: 'waves' as const, batchSize: 33 };
    expect(await notesOf(seeded)).toEqual([expect.stringContaining('Members 0, 1, of different waves')]);
    expect(await notesOf({ ...seeded, hyperparameters: {} })).toEqual([]);
  });

  it('tells nothing where nothing is wrong', async () => {
    expect(await notesOf({ hyperparameters: { seeded: false, normalized: true }, dropLast: true })).toEqual([]);
    expect(await notesOf({ ...both, dropLast: true, identicalSeeds: true })).toEqual([]);
  });
});
