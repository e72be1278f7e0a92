import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  checkpointsOf,
  readCheckpoint,
  removeCheckpoint,
  saveCheckpoint,
} from '../../../workers/checkpoints/checkpoint-store.ts';
import type { NamedTensor } from '../../../core/safetensors/safetensors.ts';
import { noFullDevice, notRun } from '../../environment/reasons.ts';

let run: string;
let data: string;
let record: string;
beforeEach(async () => {
  run = await mkdtemp(join(tmpdir(), 'tutti-checkpoints-'));
  data = join(run, 'checkpoints', 'rank-1', 'member-best.safetensors');
  record = join(run, 'checkpoints', 'rank-1', 'member-best.json');
});
afterEach(() => rm(run, { recursive: true }));

function weights(value: number): NamedTensor[] {
  return [{ name: 'dense/kernel', dtype: 'F32', shape: [2, 1], data: new Float32Array([value, -value]) }];
}

async function save(epoch: number, name = 'member-best', rank = 1): Promise<void> {
  const tensors = weights(epoch);
  await saveCheckpoint(run, { rank, name, epoch, step: epoch * 10, monitor: 'val/member_1_nll', score: 0.5, tensors });
}

async function epochOnDisk(): Promise<number> {
  const { record, tensors } = await readCheckpoint(run, 1, 'member-best');
  expect(tensors).toEqual(weights(record.epoch));
  return record.epoch;
}

describe('checkpoints', () => {
  it('read back as saved, with the SHA-256 and size of the file', async () => {
    const tensors: NamedTensor[] = [{ name: 'w', dtype: 'U8', shape: [3], data: new Uint8Array([1, 2, 3]) }];
    const saved = await saveCheckpoint(run, {
      rank: 1,
      name: 'member-best',
      epoch: 3,
      step: 30,
      monitor: null,
      score: NaN,
      tensors,
    });
    // sha256sum of the file that safetensors 0.8.0 (Python) writes for this tensor.
    expect(saved).toMatchObject({
      bytes: 67,
      sha256: 'b24b5d9f29a02e3e7bc969554d23b7e7df98941930bbe4ef108183d98fa1ed96',
    });
    expect(await readCheckpoint(run, 1, 'member-best')).toEqual({ record: saved, tensors });
    expect(JSON.parse(await readFile(record, 'utf8'))).toMatchObject({ format: 1, rank: 1, epoch: 3, score: 'NaN' });
    expect(await readdir(join(run, 'checkpoints', 'rank-1'))).toEqual(['member-best.json', 'member-best.safetensors']);
  });

  it('replace one of the same name and leave no other file', async () => {
    await save(1);
    await save(2);
    expect(await epochOnDisk()).toBe(2);
    expect(await readdir(join(run, 'checkpoints', 'rank-1'))).toEqual(['member-best.json', 'member-best.safetensors']);
  });

  it('are listed by name, of one rank, and removed', async () => {
    expect(await checkpointsOf(run, 2)).toEqual([]);
    await save(1, 'final', 10);
    await save(1, 'member-best', 2);
    await save(1, 'final', 2);
    const listed = async (): Promise<string[]> => (await checkpointsOf(run, 2)).map(({ name }) => name);
    expect(await listed()).toEqual(['final', 'member-best']);
    await removeCheckpoint(run, 2, 'final');
    await removeCheckpoint(run, 2, 'final');
    await removeCheckpoint(run, 7, 'final');
    expect(await listed()).toEqual(['member-best']);
    expect(await readdir(join(run, 'checkpoints', 'rank-2'))).toEqual(['member-best.json', 'member-best.safetensors']);
  });

  it('lists the existing ones when one is missing', async () => {
    await save(1, 'final');
    await expect(readCheckpoint(run, 1, 'ensemble-best')).rejects.toThrow(
      /Rank 1 has no checkpoint "ensemble-best" .* It has: final\./,
    );
    await expect(readCheckpoint(run, 4, 'final')).rejects.toThrow('It has none');
  });

  it('refuse names that leave the folder', async () => {
    await expect(save(1, '../final')).rejects.toThrow('"../final" cannot name a checkpoint');
  });
});

describe('a crash during the replacement of a checkpoint', () => {
  /** Puts the folder into the state between the second and the third step of writing epoch 2 over epoch 1. */
  async function crashBeforeRename(): Promise<void> {
    await save(1);
    await copyFile(data, `${data}.old`);
    await save(2);
    await rename(data, `${data}.next`);
    await rename(`${data}.old`, data);
  }

  it('before the record: the old checkpoint is valid, and the next save succeeds', async () => {
    await save(1);
    await writeFile(`${data}.next`, (await readFile(data)).subarray(0, 20));
    await writeFile(`${record}.tmp`, '{"format"');
    expect(await epochOnDisk()).toBe(1);
    await save(3);
    expect(await epochOnDisk()).toBe(3);
    expect(await readdir(join(run, 'checkpoints', 'rank-1'))).toEqual(['member-best.json', 'member-best.safetensors']);
  });

  it('before the very first record: no checkpoint is valid', async () => {
    await save(1);
    await rename(data, `${data}.next`);
    await rm(record);
    await expect(readCheckpoint(run, 1, 'member-best')).rejects.toThrow('Rank 1 has no checkpoint "member-best"');
    expect(await checkpointsOf(run, 1)).toEqual([]);
  });

  it('after the record: the new checkpoint is valid', async () => {
    await crashBeforeRename();
    expect(await epochOnDisk()).toBe(2);
  });

  it.skipIf(noFullDevice !== null)(
    `after the record and then on a full disk: the new one is still valid${notRun(noFullDevice)}`,
    async () => {
      await crashBeforeRename();
      // A failed save must not overwrite `.next` while that holds the only valid data.
      await symlink('/dev/full', `${record}.tmp`);
      await expect(save(3)).rejects.toThrow('the disk is full');
      expect(await epochOnDisk()).toBe(2);
      await save(4);
      expect(await epochOnDisk()).toBe(4);
    },
  );

  it.skipIf(noFullDevice !== null)(
    `on a full disk while the data is written: the old one is valid${notRun(noFullDevice)}`,
    async () => {
      await save(1);
      await symlink('/dev/full', `${data}.next`);
      await expect(save(2)).rejects.toThrow(
        /Cannot write .*: the disk is full \(ENOSPC\), and the file needs \d+ bytes/,
      );
      expect(await epochOnDisk()).toBe(1);
    },
  );

  it('a reader beside a writer always sees a complete checkpoint', async () => {
    await save(0);
    const writer = (async () => {
      for (let epoch = 1; epoch <= 40; epoch++) await save(epoch);
    })();
    for (let last = 0; last < 40;) {
      const epoch = await epochOnDisk();
      expect(epoch).toBeGreaterThanOrEqual(last);
      last = epoch;
    }
    await writer;
  });
});

describe('a damaged checkpoint', () => {
  it('with a flipped bit: names file, expected and actual hash, and the remedy', async () => {
    await save(1);
    const bytes = await readFile(data);
    bytes[bytes.length - 1] = 0xff;
    await writeFile(data, bytes);
    await expect(readCheckpoint(run, 1, 'member-best')).rejects.toThrow(
      /member-best\.safetensors does not match its \.json: expected \d+ bytes with SHA-256 [0-9a-f]{64}, found \d+ bytes with SHA-256 [0-9a-f]{64}.*Restore it/,
    );
  });

  it('truncated: names both sizes', async () => {
    await save(1);
    const bytes = await readFile(data);
    await writeFile(data, bytes.subarray(0, 50));
    await expect(readCheckpoint(run, 1, 'member-best')).rejects.toThrow(
      new RegExp(`expected ${bytes.length} bytes with .* found 50 bytes`),
    );
  });

  it('without data, or with a damaged record', async () => {
    await save(1);
    await rm(data);
    await expect(readCheckpoint(run, 1, 'member-best')).rejects.toThrow(/member-best\.safetensors is missing, but/);
    await writeFile(record, '{"format": 1}');
    await expect(readCheckpoint(run, 1, 'member-best')).rejects.toThrow(/member-best\.json is not a valid record/);
    await save(1, 'final');
    expect((await checkpointsOf(run, 1)).map(({ name }) => name)).toEqual(['final']);
  });

  it.each(['{"format": 1', '[]', '', '{"sha256": 3, "bytes": "many"}'])(
    'with the record %s, is replaced by the next save',
    async (damage) => {
      await save(1);
      await writeFile(record, damage);
      await save(2);
      expect(await epochOnDisk()).toBe(2);
    },
  );

  it('with a pipe or a link in place of a file, without waiting', async () => {
    await save(1);
    const sound = await readFile(record);
    for (const [plant, reason] of [
      [() => execFileSync('mkfifo', [record]), 'it is not a regular file'],
      [() => symlinkSync('/etc/hostname', record), 'it is a symbolic link'],
    ] as const) {
      await rm(record);
      plant();
      await expect(readCheckpoint(run, 1, 'member-best')).rejects.toThrow(reason);
      expect(await checkpointsOf(run, 1)).toEqual([]);
    }
    await rm(record);
    await writeFile(record, sound);
    await rm(data);
    execFileSync('mkfifo', [data]);
    await expect(readCheckpoint(run, 1, 'member-best')).rejects.toThrow('it is not a regular file');
    await save(2);
    expect(await epochOnDisk()).toBe(2);
  });
});
