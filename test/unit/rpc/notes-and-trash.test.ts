import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createRunFolder } from '../../../src-main/store/runs/run-folder.ts';
import { RunIndex } from '../../../src-main/store/index/run-index.ts';
import { runRecord } from '../store/records.ts';
import { Trash } from '../../../src-main/rpc/runs/trash.ts';
import { openService } from './page.ts';

const id = 'run-1';

async function openRun() {
  const opened = await openService();
  const home = join(opened.home, 'home');
  const folder = join(home, 'runs', id);
  const record = runRecord({ status: 'finished' });
  await createRunFolder(folder, record);
  await opened.page.hub.runs({});
  return { ...opened, home, folder, record };
}

describe('notes', () => {
  it('are stored in the run folder, one by one, and shown in the table', async () => {
    const { page, folder } = await openRun();
    await page.hub.updateRun(id, { name: 'better', tags: ['paper', 'wide'] });
    await page.hub.updateRun(id, { note: 'Look at rank 1.', isArchived: true });
    const shown = { name: 'better', tags: ['paper', 'wide'], note: 'Look at rank 1.', isArchived: true };
    expect((await page.hub.runs({})).rows).toMatchObject([shown]);
    expect(JSON.parse(await readFile(join(folder, 'notes.json'), 'utf8'))).toEqual({ ...shown, pinnedCheckpoints: [] });
    expect((await page.hub.run(id)).row).toMatchObject(shown);
  });

  it('survive updates of the run record and of the index', async () => {
    const { page, hub, home, folder, record } = await openRun();
    await page.hub.updateRun(id, { name: 'better', tags: ['paper'] });
    hub.index.upsert({ ...record, status: 'failed' }, folder);
    expect((await page.hub.runs({})).rows).toMatchObject([{ name: 'better', status: 'failed', tags: ['paper'] }]);
    const index = await RunIndex.open(home);
    onTestFinished(() => index.close());
    await index.rebuild();
    expect(index.list()).toMatchObject([{ name: 'better', tags: ['paper'] }]);
    expect((await hub.find('better')).folder).toBe(folder);
  });

  it('are reported when damaged, and nothing else is lost', async () => {
    const { page, folder } = await openRun();
    await writeFile(join(folder, 'notes.json'), '{"tags": 3}');
    await expect(page.hub.updateRun(id, { note: 'x' })).rejects.toThrow(/notes\.json is damaged/);
    expect(await readFile(join(folder, 'notes.json'), 'utf8')).toBe('{"tags": 3}');
    expect((await page.hub.runs({})).rows).toMatchObject([{ id, tags: [] }]);
  });
});

describe('deleting', () => {
  it('moves a run aside immediately, and undo restores it', async () => {
    const { page, folder, home } = await openRun();
    await page.hub.updateRun(id, { tags: ['paper'] });
    await page.hub.run(id);
    await page.hub.deleteRun(id);
    expect(existsSync(folder)).toBe(false);
    expect((await page.hub.runs({})).rows).toEqual([]);
    await expect(page.hub.run(id)).rejects.toThrow('No run has the id');
    await page.hub.undoDelete(id);
    expect((await page.hub.runs({})).rows).toMatchObject([{ id, folder, tags: ['paper'] }]);
    expect(await readdir(join(home, 'trash'))).toEqual([]);
    await expect(page.hub.undoDelete(id)).rejects.toThrow('could be undone for 10 s');
  });

  it('can be undone again after an undo failed, which lost nothing', async () => {
    const { home } = await openRun();
    const [first, second] = ['first', 'second'].map((name) => join(home, name));
    await mkdir(first);
    await writeFile(join(first, 'a'), 'a');
    await mkdir(join(second, 'inner'), { recursive: true });
    await writeFile(join(second, 'inner', 'b'), 'b');
    const trash = new Trash((error) => {
      throw error;
    });
    onTestFinished(() => trash.close());
    await trash.put('both', [join(first, 'a'), join(second, 'inner', 'b')]);
    // The last one comes back first, and the folder of the other is gone.
    await rm(first, { recursive: true });
    await expect(trash.restore('both')).rejects.toThrow('ENOENT');
    expect(await readFile(join(second, 'inner', 'b'), 'utf8')).toBe('b');
    await mkdir(first);
    await trash.restore('both');
    expect(await readFile(join(first, 'a'), 'utf8')).toBe('a');
    await expect(trash.restore('both')).rejects.toThrow('is final');
  });

  it('is final after 10 seconds', async () => {
    const { page, home, errors } = await openRun();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await page.hub.deleteRun(id);
    vi.advanceTimersByTime(9_999);
    expect(await readdir(join(home, 'trash'))).toHaveLength(1);
    vi.advanceTimersByTime(1);
    vi.useRealTimers();
    await expect.poll(() => readdir(join(home, 'trash'))).toEqual([]);
    await expect(page.hub.undoDelete(id)).rejects.toThrow('is final');
    expect(errors).toEqual([]);
  });

  it('is final when Tutti exits', async () => {
    const { page, service, home } = await openRun();
    await page.hub.deleteRun(id);
    await service.close();
    expect(await readdir(join(home, 'trash'))).toEqual([]);
  });

  it('reports that the folder of a run is already gone', async () => {
    const { page, folder } = await openRun();
    await rm(folder, { recursive: true });
    await expect(page.hub.deleteRun(id)).rejects.toThrow('holds no run');
  });
});
