import { expect, it } from 'vitest';
import { openService } from './page.ts';
import { writeTinyProject } from './tiny-project.ts';

it('trains a run for a page, tells it as it happens, and evaluates its checkpoints again to the same numbers', async () => {
  const { home, page, errors } = await openService();
  const projectFolder = await writeTinyProject(home);
  const { id } = await page.hub.startRun({ projectFolder, overrides: { seed: 7 }, name: 'watched' });
  await page.hub.watch(id);
  const early = await page.hub.run(id);
  expect(early).toMatchObject({ isOurs: true, row: { id, name: 'watched', status: 'running' } });
  expect(early.ranks.map(({ rank, seed }) => [rank, seed])).toEqual([
    [0, 7],
    [1, 8],
  ]);
  await expect.poll(() => page.updates.at(-1)?.type, { timeout: 15_000 }).toBe('ended');

  const view = await page.hub.run(id);
  expect(view).toMatchObject({
    isOurs: false,
    totalSteps: 12,
    ensembleMonitor: 'val/ens_nll',
    row: { status: 'finished' },
  });
  expect(view.events.map(({ kind }) => kind)).toContain('described');
  expect(errors).toEqual([]);
}, 30_000);
