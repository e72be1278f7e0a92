import { describe, expect, it } from 'vitest';
import { type RoomWait, whenThereIsRoom } from '../../../../core/node/disk-room.ts';
import { explainFileError } from '../../../../core/node/file-error.ts';
import { temporaryFolder } from '../../store/fixtures.ts';

function failure(code: string, path: string, bytes?: number): Error {
  const error = Object.assign(new Error(code), { code, syscall: 'write', path });
  const explained = explainFileError(error, path, 'write', bytes);
  return explained instanceof Error ? explained : error;
}

/** Runs a write that fails with `errors`, one after the other, and then succeeds. */
async function attempt(errors: Error[], isAbandoned = () => false) {
  const waits: RoomWait[] = [];
  let [looks, rooms, writes] = [0, 0, 0];
  const write = () => {
    writes += 1;
    const error = errors.shift();
    return error === undefined ? Promise.resolve('written') : Promise.reject(error);
  };
  const result = await whenThereIsRoom(write, {
    onFull: (wait) => waits.push(wait),
    onRoom: () => (rooms += 1),
    isAbandoned,
    pause: async () => void (looks += 1),
  });
  return { result, waits, looks, rooms, writes };
}

describe('a write on a full disk', () => {
  it('is repeated as soon as what it needs is free, and is reported once', async () => {
    const path = `${await temporaryFolder()}/final.safetensors`;
    const full = () => failure('ENOSPC', path, 1024);
    const { result, waits, looks, rooms, writes } = await attempt([full(), full(), full()]);
    expect({ result, looks, rooms, writes }).toEqual({ result: 'written', looks: 3, rooms: 1, writes: 4 });
    expect(waits).toHaveLength(1);
    expect(waits[0]).toMatchObject({ path, neededBytes: 1024 });
    expect(waits[0].message).toMatch(
      /^Waiting for disk space: the disk is full \(ENOSPC\), and .*final\.safetensors cannot be written\. It needs 1 KiB \([\d.]+ [GMT]iB are free\)\./,
    );
  });

  it('is not repeated at each look while more is needed than is free', async () => {
    const path = `${await temporaryFolder()}/final.safetensors`;
    const { looks, writes } = await attempt([failure('ENOSPC', path, Number.MAX_SAFE_INTEGER)]);
    // After ten looks it tries, because a system may report less free space than it grants.
    expect({ looks, writes }).toEqual({ looks: 10, writes: 2 });
  });

  it('is repeated for a quota, of which the free space says nothing', async () => {
    const path = `${await temporaryFolder()}/final.safetensors`;
    const { waits, looks } = await attempt([failure('EDQUOT', path, 10)]);
    expect(looks).toBe(10);
    expect(waits[0].message).toContain("this user's disk quota is used up (EDQUOT)");
    expect(waits[0].message).toContain('It needs 10 B.');
  });

  it('fails with the last error once the wait is abandoned', async () => {
    const path = `${await temporaryFolder()}/final.safetensors`;
    let looks = 0;
    const run = attempt([failure('ENOSPC', path, 1), failure('ENOSPC', path, 2)], () => (looks += 1) > 2);
    await expect(run).rejects.toThrow('the file needs 2 bytes');
  });

  it('is not repeated after any other error', async () => {
    await expect(attempt([failure('EIO', '/somewhere')])).rejects.toThrow('EIO');
  });
});
