import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hash } from 'node:crypto';
import { exportRun } from '../../../src-main/export/export-run.ts';
import { createRunFolder } from '../../../src-main/store/runs/run-folder.ts';
import { runRecord } from '../store/records.ts';
import { openService } from './page.ts';

const weights = Buffer.from('weights');
const checkpoint = {
  format: 1,
  rank: 0,
  name: 'final',
  epoch: 1,
  step: 2,
  monitor: null,
  score: null,
  sha256: hash('sha256', weights, 'hex'),
  bytes: weights.length,
  savedAt: '2026-01-02T03:04:05.000Z',
};

/** A home with a sound run `whole`, and a run `hurt` with a damaged row of metrics, checkpoint record and event. */
async function openHome() {
  const opened = await openService();
  const folderOf = (id: string): string => join(opened.home, 'home', 'runs', id);
  for (const id of ['whole', 'hurt']) {
    const folder = folderOf(id);
    await createRunFolder(folder, runRecord({ id, name: id, status: 'finished' }));
    await writeFile(join(folder, 'metrics.csv'), 'epoch,step,a\n0,1,1\n1,2,2\n');
    await mkdir(join(folder, 'checkpoints', 'rank-0'), { recursive: true });
    await writeFile(join(folder, 'checkpoints', 'rank-0', 'final.json'), JSON.stringify(checkpoint));
    await writeFile(join(folder, 'checkpoints', 'rank-0', 'final.safetensors'), weights);
  }
  const hurt = folderOf('hurt');
  await writeFile(join(hurt, 'metrics.csv'), 'epoch,step,a\n0,1,1\n0,1\0\0\0\n1,2,2\n');
  await writeFile(join(hurt, 'checkpoints', 'rank-0', 'member-best.json'), '{"format":1,');
  await writeFile(join(hurt, 'events.jsonl'), '{"time":\n');
  return { ...opened, hurt, whole: folderOf('whole') };
}

describe('a run with damaged files', () => {
  it('is shown with all that is whole, and a warning names each damaged file', async () => {
    const { page } = await openHome();
    await page.hub.runs({});
    const view = await page.hub.run('hurt');
    expect(view.warnings).toEqual([
      expect.stringMatching(/metrics\.csv, line 3 .* The row is skipped\.$/),
      expect.stringContaining('events.jsonl, line 1'),
      expect.stringContaining('member-best.json is damaged'),
    ]);
    const request = { names: [], maximumPoints: 100, fromStep: null, toStep: null };
    expect((await page.hub.series('hurt', request)).series).toMatchObject([{ name: 'a', step: Int32Array.of(1, 2) }]);
    const { cells, warnings } = await page.hub.checkpoints('hurt');
    expect(cells.map(({ record }) => record.name)).toEqual(['final']);
    expect(warnings).toEqual([expect.stringMatching(/member-best\.json is damaged, so its checkpoint is not listed/)]);
  });

  it('is exported with all that is whole, and the report names the rest', async () => {
    const { hurt, home } = await openHome();
    const to = join(home, 'export');
    const report = await exportRun(hurt, { to, zip: false });
    expect(report.warnings).toEqual([
      expect.stringContaining('metrics.csv, line 3'),
      expect.stringContaining('events.jsonl'),
    ]);
    expect(report.skipped.map(({ path }) => path)).toEqual(['checkpoints/rank-0/member-best.safetensors']);
    expect(await readFile(join(to, 'metrics.csv'), 'utf8')).toBe('epoch,step,a\n0,1,1\n1,2,2\n');
    expect(report.paths).toContain('checkpoints/rank-0/final.safetensors');
  });

  it('with a damaged record is named, and the other runs are listed, shown and exported', async () => {
    const { page, hub, hurt, whole, home } = await openHome();
    await page.hub.runs({});
    await writeFile(join(hurt, 'run.json'), '{"format":1,');
    expect((await page.hub.runs({})).rows.map(({ id }) => id).sort()).toEqual(['hurt', 'whole']);
    await expect(page.hub.run('hurt')).rejects.toThrow(/run\.json is damaged/);
    expect((await page.hub.run('whole')).warnings).toEqual([]);
    await expect(hub.export('hurt', { to: join(home, 'a'), zip: false })).rejects.toThrow(/run\.json is damaged/);
    expect((await exportRun(whole, { to: join(home, 'b'), zip: false })).skipped).toEqual([]);
  });
});
