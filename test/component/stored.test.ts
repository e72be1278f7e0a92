import { createPinia, setActivePinia } from 'pinia';
import { beforeEach, describe, expect, it } from 'vitest';
import { nextTick } from 'vue';
import { z } from 'zod';
import { usePreferences, useSettingsStore } from '../../src-renderer/stores/settings.ts';

beforeEach(() => {
  localStorage.clear();
  setActivePinia(createPinia());
});
const storedSettings = (): unknown => JSON.parse(localStorage.getItem('tutti.settings') ?? 'null');

describe('settings', () => {
  it('are stored by this browser and set the theme of the page', async () => {
    const settings = useSettingsStore();
    expect(settings.theme).toBe('system');
    expect(document.documentElement.dataset.theme).toBeUndefined();
    settings.theme = 'dark';
    settings.isNotifying = true;
    await nextTick();
    expect(document.documentElement.dataset.theme).toBe('dark');
    expect(storedSettings()).toEqual({ theme: 'dark', isNotifying: true });
    setActivePinia(createPinia());
    expect(useSettingsStore()).toMatchObject({ theme: 'dark', isNotifying: true });
    settings.theme = 'system';
    await nextTick();
    expect(document.documentElement.dataset.theme).toBeUndefined();
  });

  it.each(['{"theme":"sepia"}', 'not JSON', '[]', 'null'])('fall back to the defaults for %s', (stored) => {
    localStorage.setItem('tutti.settings', stored);
    expect(useSettingsStore()).toMatchObject({ theme: 'system', isNotifying: false });
  });

  it('that lack one keep the others', () => {
    localStorage.setItem('tutti.settings', '{"theme":"light"}');
    expect(useSettingsStore()).toMatchObject({ theme: 'light', isNotifying: false });
  });

  it('follow another tab', async () => {
    const settings = useSettingsStore();
    const newValue = '{"theme":"dark","isNotifying":false}';
    window.dispatchEvent(new StorageEvent('storage', { key: 'tutti.settings', newValue, storageArea: localStorage }));
    await nextTick();
    expect(settings.theme).toBe('dark');
  });
});

describe('preferences', () => {
  const names = z.array(z.string());

  it('are stored per project', async () => {
    usePreferences('/a').set('chart-order', ['NLL']);
    await nextTick();
    setActivePinia(createPinia());
    expect(usePreferences('/a').get('chart-order', names, [])).toEqual(['NLL']);
    expect(usePreferences('/b').get('chart-order', names, [])).toEqual([]);
  });

  it('replace invalid values by the fallback and keep the others', () => {
    localStorage.setItem('tutti.preferences./a', '{"chart-order":7,"other":["x"]}');
    const preferences = usePreferences('/a');
    expect(preferences.get('chart-order', names, ['NLL'])).toEqual(['NLL']);
    expect(preferences.get('other', names, [])).toEqual(['x']);
  });
});
