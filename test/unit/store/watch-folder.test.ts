import { EventEmitter } from 'node:events';
import type { FSWatcher } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FolderListener, watchFolder } from '../../../src-main/store/watch-folder.ts';
import { temporaryFolder } from './fixtures.ts';

const exhausted = (): Error =>
  Object.assign(new Error('ENOSPC: System limit for number of file watchers reached'), { code: 'ENOSPC' });

function listen(): FolderListener & { changes: (string | null)[]; failures: Error[]; notices: string[] } {
  const [changes, failures, notices] = [[] as (string | null)[], [] as Error[], [] as string[]];
  return {
    changes,
    failures,
    notices,
    changed: (file) => void changes.push(file),
    failed: (error) => void failures.push(error),
    noticed: (notice) => void notices.push(notice),
  };
}

it('reports the names of changed files', async () => {
  const folder = await temporaryFolder();
  const listener = listen();
  const watch = watchFolder(folder, listener);
  await writeFile(join(folder, 'new'), 'x');
  await expect.poll(() => listener.changes).toContain('new');
  watch.close();
  expect({ failures: listener.failures, notices: listener.notices }).toEqual({ failures: [], notices: [] });
});

it('throws where the folder is missing', async () => {
  const missing = join(await temporaryFolder(), 'missing');
  expect(() => watchFolder(missing, listen())).toThrow('ENOENT');
});

describe('where the system takes no more watches', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('looks every second until it is closed, and says so once', () => {
    const listener = listen();
    const watch = watchFolder('/runs', listener, () => {
      throw exhausted();
    });
    vi.advanceTimersByTime(2_999);
    expect(listener.changes).toEqual([null, null]);
    expect(listener.notices).toEqual([expect.stringContaining('ENOSPC: System limit for number of file watchers')]);
    watch.close();
    vi.advanceTimersByTime(10_000);
    expect(listener.changes).toHaveLength(2);
  });

  it('does so too if the system says it later, but passes on other errors', () => {
    const watcher = Object.assign(new EventEmitter(), { close: vi.fn<() => void>() });
    const listener = listen();
    const watch = watchFolder('/runs', listener, () => watcher as unknown as FSWatcher);
    watcher.emit('error', exhausted());
    expect(watcher.close).toHaveBeenCalledOnce();
    vi.advanceTimersByTime(1_000);
    expect(listener.changes).toEqual([null]);
    watch.close();
    const other = Object.assign(new EventEmitter(), { close: vi.fn<() => void>() });
    const told = listen();
    watchFolder('/runs', told, () => other as unknown as FSWatcher);
    other.emit('error', new Error('EIO'));
    expect(told).toMatchObject({ failures: [new Error('EIO')], notices: [] });
  });
});
