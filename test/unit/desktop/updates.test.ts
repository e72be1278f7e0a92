import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  nextUpdateStep,
  readUpdateSettings,
  type Updater,
  Updates,
  type UpdateSituation,
  whyNotInstall,
  writeUpdateSettings,
} from '../../../src-main/desktop/updates.ts';
import { temporaryFolder } from '../store/fixtures.ts';

const dayMs = 86_400_000;
const nowMs = Date.parse('2026-11-24T12:00:00Z');
const idle: UpdateSituation = { isEnabled: true, phase: { name: 'none' }, checkedMs: null, nowMs, work: 0 };
const found = { name: 'found', version: '0.2.0' } as const;
const ready = { name: 'ready', version: '0.2.0' } as const;

describe('what is due', () => {
  it('is a look once a day, then a download, then nothing until the user installs', () => {
    const stepAt = (checkedMs: number | null) => nextUpdateStep({ ...idle, checkedMs });
    expect([null, nowMs - dayMs, nowMs - dayMs + 1, nowMs, nowMs + 1].map(stepAt)).toEqual([
      'check',
      'check',
      null,
      null,
      'check',
    ]);
    expect(nextUpdateStep({ ...idle, phase: found, checkedMs: nowMs })).toBe('download');
    expect(nextUpdateStep({ ...idle, phase: ready })).toBeNull();
  });

  it('is nothing while anything trains or waits, or where the user did not ask for it', () => {
    const phases = fc.constantFrom({ name: 'none' } as const, found, ready);
    const checked = fc.option(fc.integer({ min: 0, max: 2 * nowMs }));
    fc.assert(
      fc.property(phases, checked, fc.nat(), (phase, checkedMs, work) => {
        const situation = { ...idle, phase, checkedMs };
        expect(nextUpdateStep({ ...situation, work: work + 1 })).toBeNull();
        expect(nextUpdateStep({ ...situation, isEnabled: false, work })).toBeNull();
        expect(whyNotInstall({ phase, work: work + 1 })).not.toBeNull();
      }),
    );
    expect(whyNotInstall({ phase: ready, work: 0 })).toBeNull();
    expect(whyNotInstall({ phase: ready, work: 2 })).toBe(
      '2 runs train or wait, and installing Tutti 0.2.0 restarts it. Install it once they have ended.',
    );
    expect(whyNotInstall({ phase: found, work: 0 })).toBe('No update is ready.');
  });
});

/** Updates with an updater that finds 0.2.0, and whose download ends when the test says so. */
function openUpdates(isEnabled: boolean, changes: Partial<Updater> = {}) {
  const state = { work: 0 };
  const calls: string[] = [];
  const errors: unknown[] = [];
  const downloads: PromiseWithResolvers<void>[] = [];
  const updates = new Updates({
    updater: {
      check: () => Promise.resolve('0.2.0'),
      download: (signal) => {
        const download = Promise.withResolvers<void>();
        downloads.push(download);
        signal.addEventListener('abort', () => download.reject(new Error('cancelled')));
        return download.promise;
      },
      install: () => void calls.push('install'),
      ...changes,
    },
    settings: { isEnabled, checkedAt: null },
    save: ({ isEnabled: isOn, checkedAt }) => {
      calls.push(`saved ${isOn} ${checkedAt === null ? 'never' : 'looked'}`);
      return Promise.resolve();
    },
    work: () => state.work,
    changed: () => void calls.push('changed'),
    ready: (version) => void calls.push(`ready ${version}`),
    onError: (error) => void errors.push(error),
  });
  return { updates, state, calls, errors, downloads };
}

describe('updates', () => {
  it('are off by default: nothing is asked', async () => {
    const { updates, calls } = openUpdates(false);
    await updates.look();
    expect(calls).toEqual([]);
    expect(await readUpdateSettings(join(await temporaryFolder(), 'none'))).toEqual({
      isEnabled: false,
      checkedAt: null,
    });
  });

  it('are found and downloaded once they are turned on, and installed by the user', async () => {
    const { updates, calls, downloads } = openUpdates(false);
    const turned = updates.setEnabled(true);
    await vi.waitUntil(() => downloads.length === 1);
    expect(() => updates.install()).toThrow('No update is ready.');
    downloads[0].resolve();
    await turned;
    await updates.look();
    expect(calls).toEqual(['saved true never', 'changed', 'saved true looked', 'changed', 'ready 0.2.0']);
    expect(updates.readyVersion).toBe('0.2.0');
    updates.install();
    expect(calls.at(-1)).toBe('install');
  });

  it('wait while a run trains: a download ends, begins again later, and nothing is installed', async () => {
    const { updates, state, calls, downloads, errors } = openUpdates(true);
    state.work = 1;
    await updates.look();
    expect(calls).toEqual([]);
    state.work = 0;
    const looked = updates.look();
    await vi.waitUntil(() => downloads.length === 1);
    state.work = 1;
    await Promise.all([updates.look(), looked]);
    expect([updates.readyVersion, downloads.length]).toEqual([null, 1]);
    state.work = 0;
    const again = updates.look();
    await vi.waitUntil(() => downloads.length === 2);
    downloads[1].resolve();
    await again;
    state.work = 1;
    expect(() => updates.install()).toThrow('A run trains or waits, and installing Tutti 0.2.0 restarts it.');
    expect(calls).toEqual(['saved true looked', 'changed', 'ready 0.2.0']);
    expect(errors).toEqual([]);
  });

  it('report an address that does not answer, which is asked again a day later', async () => {
    const check = vi.fn<() => Promise<string | null>>().mockRejectedValue(new Error('no answer'));
    const { updates, errors } = openUpdates(true, { check });
    await updates.look();
    await updates.look();
    expect(errors).toEqual([new Error('no answer')]);
    expect(check).toHaveBeenCalledOnce();
  });
});

it('keeps the setting, and names a damaged file with the remedy', async () => {
  const path = join(await temporaryFolder(), 'updates.json');
  const settings = { isEnabled: true, checkedAt: '2026-11-24T12:00:00.000Z' };
  await writeUpdateSettings(path, settings);
  expect(await readUpdateSettings(path)).toEqual(settings);
  await writeFile(path, '{"isEnabled":"yes"}');
  await expect(readUpdateSettings(path)).rejects.toThrow(/updates\.json is damaged .*Remove it/s);
});
