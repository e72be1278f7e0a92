import { describe, expect, it } from 'vitest';
import { hubMethods } from '../../../core/protocol/pages/hub-methods.ts';
import { createRunFolder } from '../../../src-main/store/runs/run-folder.ts';
import { runRecord } from '../store/records.ts';
import { openPage, openService } from './page.ts';
import { join } from 'node:path';

/** What a link for watchers may call, decided here by hand: a method that is missing must be denied. */
const watchable = [
  'deviceLoads',
  'checkpoints',
  'forkPoints',
  'logs',
  'predictionNames',
  'postprocessing',
  'predictions',
  'run',
  'runs',
  'runOverview',
  'runGroups',
  'runFields',
  'trends',
  'series',
  'session',
  'studies',
  'study',
  'unwatchStudy',
  'watchStudy',
  'unwatch',
  'watch',
];

const denied = Object.keys(hubMethods).filter((name) => !watchable.includes(name));

describe('a page with a link for watchers', () => {
  it.each(denied)('may not call %s, whatever the arguments', async (method) => {
    const { service, home } = await openService();
    const { hub } = openPage(service, 'watcher');
    const call: (options: { method: string; args: unknown[] }) => Promise<unknown> = hub.$callRaw;
    for (const args of [
      [],
      ['run-1'],
      ['run-1', {}],
      [{ projectFolder: home, overrides: {}, name: null, out: null }],
    ]) {
      await expect(call({ method, args })).rejects.toThrow(
        `This link only lets you watch runs (${method} is not allowed).`,
      );
    }
  });

  it('sees the list, a run and its parts', async () => {
    const { service, home } = await openService();
    await createRunFolder(join(home, 'home', 'runs', 'run-1'), runRecord({ status: 'finished' }));
    const { hub } = openPage(service, 'watcher');
    expect(await hub.session()).toEqual({ role: 'watcher', canInvite: false, program: 'npx tutti' });
    expect((await hub.runs({})).rows).toMatchObject([{ id: 'run-1' }]);
    expect(await hub.runOverview()).toMatchObject({ total: 1, projects: ['wine'] });
    expect((await hub.run('run-1')).record.id).toBe('run-1');
    expect(await hub.logs('run-1', { ranks: [], limit: 10 })).toEqual([]);
    expect(Object.values(await hub.checkpoints('run-1')).flat()).toEqual([]);
    expect(await hub.forkPoints('run-1')).toEqual([]);
    expect(await hub.predictionNames('run-1')).toEqual([]);
    expect(await hub.predictions('run-1', { split: 'test', name: 'final' })).toBeNull();
    expect(await hub.deviceLoads('run-1')).toEqual([]);
    const request = { names: [], maximumPoints: 100, fromStep: null, toStep: null };
    expect(await hub.series('run-1', request)).toEqual({ series: [] });
    await hub.watch('run-1');
    await hub.unwatch('run-1');
  });

  it('and the page of the owner differ in nothing else', async () => {
    const { page } = await openService();
    expect(await page.hub.session()).toEqual({ role: 'owner', canInvite: true, program: 'npx tutti' });
    expect(await page.hub.newWatchLink()).toEqual({ link: 'http://127.0.0.1:1/?token=watcher' });
    expect(await page.hub.newLink()).toEqual({ link: 'http://127.0.0.1:1/?token=owner' });
    await page.hub.endWatchers();
  });
});
