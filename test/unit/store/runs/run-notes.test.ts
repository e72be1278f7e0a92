import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changeRunNotes, pinCheckpoints, readRunNotes } from '../../../../src-main/store/runs/run-notes.ts';

const empty = { tags: [], note: '', isArchived: false, pinnedCheckpoints: [] };
const [first, second, other] = [
  { rank: 0, name: 'final' },
  { rank: 1, name: 'final' },
  { rank: 0, name: 'ensemble-best' },
];

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-notes-'));
});
afterEach(() => rm(folder, { recursive: true }));

const pinned = async () => (await readRunNotes(folder)).pinnedCheckpoints;

describe('notes on a run', () => {
  it('are empty where none exist, and update only the given fields', async () => {
    expect(await readRunNotes(folder)).toEqual(empty);
    expect(await changeRunNotes(folder, { note: 'a' })).toEqual({ ...empty, note: 'a' });
    await changeRunNotes(folder, { tags: ['b'] });
    expect(await readRunNotes(folder)).toEqual({ ...empty, note: 'a', tags: ['b'] });
  });

  it('pin a checkpoint once, and remove only the named pins', async () => {
    await pinCheckpoints(folder, [first, second], true);
    await pinCheckpoints(folder, [second, other], true);
    expect(await pinned()).toEqual([first, second, other]);
    await pinCheckpoints(folder, [first], false);
    expect(await pinned()).toEqual([second, other]);
    await pinCheckpoints(folder, [first], false);
    expect(await pinned()).toEqual([second, other]);
  });

  it('name the place where they are damaged', async () => {
    await writeFile(join(folder, 'notes.json'), '{"tags":[1]}');
    await expect(readRunNotes(folder)).rejects.toThrow('notes.json is damaged');
  });

  it('keep keys that this version does not know', async () => {
    await writeFile(join(folder, 'notes.json'), '{"tags":["a"],"colour":"red"}');
    await changeRunNotes(folder, { note: 'b' });
    await pinCheckpoints(folder, [first], true);
    expect(JSON.parse(await readFile(join(folder, 'notes.json'), 'utf8'))).toMatchObject({
      tags: ['a'],
      note: 'b',
      colour: 'red',
      pinnedCheckpoints: [first],
    });
  });
});
