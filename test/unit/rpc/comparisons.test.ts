import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openService } from './page.ts';

const query = { runs: 'a,b', metric: 'val/ens_nll', baseline: 'a' };

describe('saved comparisons', () => {
  it('are files of the home, the latest first', async () => {
    const { page, home } = await openService();
    expect(await page.hub.comparisons()).toEqual({ comparisons: [], problems: [] });
    const first = await page.hub.saveComparison({ name: 'rates', query });
    const second = await page.hub.saveComparison({ name: 'sizes', query: { runs: 'c,d' } });
    expect(first).toMatchObject({ format: 1, name: 'rates', query });
    const path = join(home, 'home', 'comparisons', `${first.id}.json`);
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(first);
    const { comparisons } = await page.hub.comparisons();
    expect(new Set(comparisons.map(({ id }) => id))).toEqual(new Set([second.id, first.id]));
    expect(comparisons[0].savedAt >= comparisons[1].savedAt).toBe(true);
  });

  it('are renamed, and take another address', async () => {
    const { page } = await openService();
    const { id } = await page.hub.saveComparison({ name: 'rates', query });
    await page.hub.updateComparison(id, { name: 'learning rates' });
    await page.hub.updateComparison(id, { query: { ...query, baseline: 'b' } });
    const { comparisons } = await page.hub.comparisons();
    expect(comparisons).toMatchObject([{ id, name: 'learning rates', query: { ...query, baseline: 'b' } }]);
  });

  it('are deleted, which can be undone', async () => {
    const { page, home } = await openService();
    const saved = await page.hub.saveComparison({ name: 'rates', query });
    const { deletion } = await page.hub.deleteComparison(saved.id);
    expect(existsSync(join(home, 'home', 'comparisons', `${saved.id}.json`))).toBe(false);
    expect((await page.hub.comparisons()).comparisons).toEqual([]);
    await expect(page.hub.updateComparison(saved.id, { name: 'x' })).rejects.toThrow('There is no saved comparison');
    await page.hub.undoDelete(deletion);
    expect((await page.hub.comparisons()).comparisons).toEqual([saved]);
  });

  it('that are damaged are reported, and do not hide the others', async () => {
    const { page, home } = await openService();
    const saved = await page.hub.saveComparison({ name: 'rates', query });
    await writeFile(join(home, 'home', 'comparisons', 'broken.json'), '{"format": 2}');
    const { comparisons, problems } = await page.hub.comparisons();
    expect(comparisons).toEqual([saved]);
    expect(problems).toEqual([expect.stringMatching(/broken\.json is damaged/)]);
  });

  it.each([
    ['no name', { name: ' ', query }],
    ['no runs', { name: 'x', query: { metric: 'val/ens_nll' } }],
    ['a parameter that is no text', { name: 'x', query: { runs: 'a', zoom: 3 } }],
  ])('are refused with %s', async (_what, content) => {
    const { page } = await openService();
    await expect(page.hub.saveComparison(content as never)).rejects.toThrow('wrong arguments');
  });
});
