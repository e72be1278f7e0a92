import { expect, it, vi } from 'vitest';
import { renameOver } from '../../../core/node/atomic-file.ts';

const failure = (code: string): Error => Object.assign(new Error(code), { code });

it('tries again on Windows while another process has the file open', async () => {
  const move = vi.fn<() => Promise<void>>();
  move.mockRejectedValueOnce(failure('EPERM')).mockRejectedValueOnce(failure('EBUSY')).mockResolvedValue(undefined);
  await renameOver('a', 'b', { platform: 'win32', move });
  expect(move.mock.calls).toEqual([
    ['a', 'b'],
    ['a', 'b'],
    ['a', 'b'],
  ]);
});

it('gives up where that cannot help', async () => {
  const full = vi.fn<() => Promise<void>>().mockRejectedValue(failure('ENOSPC'));
  await expect(renameOver('a', 'b', { platform: 'win32', move: full })).rejects.toThrow('ENOSPC');
  expect(full).toHaveBeenCalledTimes(1);
  const refused = vi.fn<() => Promise<void>>().mockRejectedValue(failure('EPERM'));
  await expect(renameOver('a', 'b', { platform: 'linux', move: refused })).rejects.toThrow('EPERM');
  expect(refused).toHaveBeenCalledTimes(1);
});
