import { describe, expect, it } from 'vitest';
import type { SavedComparison } from '../../core/protocol/pages/saved-comparison.ts';
import { useSessionStore } from '../../src-renderer/stores/session.ts';
import { useToastsStore } from '../../src-renderer/stores/toasts.ts';
import SaveControls from '../../src-renderer/views/compare/SaveControls.vue';
import SavedComparisons from '../../src-renderer/views/compare/SavedComparisons.vue';
import { isChanged, queryToSave } from '../../src-renderer/views/compare/use-saved-comparisons.ts';
import { buttonNamed, type HubAnswers, mountPage } from './mount-page.ts';

const rates: SavedComparison = {
  format: 1,
  id: '3f0c8c1e-6f0a-4b57-9d0e-0f6f2f0a1b2c',
  name: 'rates',
  query: { runs: 'a,b,c', metric: 'val/ens_nll,val/ens_acc' },
  savedAt: '2026-01-01T00:00:00.000Z',
};

/** As the owner of the runs. */
async function open(component: object, address: string, answers: HubAnswers, props = {}) {
  const page = await mountPage(
    {
      components: { Shown: component },
      setup: () => void useSessionStore().load(),
      template: '<Shown v-bind="$attrs" />',
    },
    { address, props },
    {
      session: () => ({ role: 'owner', canInvite: false }),
      comparisons: () => ({ comparisons: [rates], problems: [] }),
      ...answers,
    },
  );
  await expect.poll(() => page.calls.some(([method]) => method === 'comparisons')).toBe(true);
  return page;
}

describe('the list of saved comparisons', () => {
  it('links to what was saved', async () => {
    const { wrapper } = await open(SavedComparisons, '/compare', {});
    await expect.poll(() => wrapper.find('tbody tr').exists()).toBe(true);
    const cells = wrapper.findAll('tbody td').map((cell) => cell.text());
    expect(cells.slice(0, 2)).toEqual(['3', 'ens NLL, ens ACC']);
    expect(decodeURIComponent(wrapper.get('tbody a').attributes('href') ?? '')).toBe(
      `/compare?runs=a,b,c&metric=val/ens_nll,val/ens_acc&saved=${rates.id}`,
    );
  });

  it('renames in a dialog, and deletes with an undo', async () => {
    const { wrapper, calls } = await open(SavedComparisons, '/compare', {
      updateComparison: (_id, changes) => ({ ...rates, ...changes }),
      deleteComparison: () => ({ deletion: 'comparison x' }),
      undoDelete: () => undefined,
    });
    await expect.poll(() => wrapper.find('tbody tr').exists()).toBe(true);
    buttonNamed('Rename rates').click();
    await expect.poll(() => document.querySelector('#comparison-name')).not.toBeNull();
    const field = document.querySelector('#comparison-name') as HTMLInputElement;
    field.value = ' learning rates ';
    field.dispatchEvent(new Event('input'));
    await expect.poll(() => buttonNamed('Rename').disabled).toBe(false);
    buttonNamed('Rename').click();
    const changed = ['updateComparison', rates.id, { name: 'learning rates' }];
    await expect.poll(() => calls).toContainEqual(changed);
    buttonNamed('Delete rates').click();
    await expect.poll(() => calls).toContainEqual(['deleteComparison', rates.id]);
    await expect.poll(() => useToastsStore().toasts.at(-1)?.message).toBe('rates was deleted. Its runs stay.');
    await useToastsStore().toasts.at(-1)?.undo?.();
    expect(calls).toContainEqual(['undoDelete', 'comparison x']);
  });

  it('says how to make a comparison where there is none', async () => {
    const { wrapper } = await open(SavedComparisons, '/compare', {
      comparisons: () => ({ comparisons: [], problems: ['x.json is damaged'] }),
    });
    await expect.poll(() => wrapper.find('h2').exists() && wrapper.get('h2').text()).toBe('Nothing to compare');
    expect(wrapper.get('[role=alert]').text()).toBe('x.json is damaged');
  });
});

describe('saving a comparison', () => {
  it('keeps what the address shows under a name, which the address then has', async () => {
    const { calls, router } = await open(
      SaveControls,
      '/compare?runs=a,b&baseline=b',
      { saveComparison: (content) => ({ ...rates, ...content }) },
      { suggestion: 'a and b' },
    );
    await expect.poll(() => buttonNamed('Save')).toBeDefined();
    buttonNamed('Save').click();
    await expect.poll(() => document.querySelector<HTMLInputElement>('#comparison-name')?.value).toBe('a and b');
    document.querySelector('form')?.dispatchEvent(new Event('submit'));
    const content = { name: 'a and b', query: { runs: 'a,b', baseline: 'b' } };
    await expect.poll(() => calls).toContainEqual(['saveComparison', content]);
    await expect.poll(() => router.currentRoute.value.query.saved).toBe(rates.id);
  });

  it('offers to save changes of a saved one only where there are some', async () => {
    const address = `/compare?runs=a,b,c&metric=val/ens_nll,val/ens_acc&saved=${rates.id}`;
    const { calls, router } = await open(
      SaveControls,
      address,
      { updateComparison: (_id, changes) => ({ ...rates, ...changes }) },
      { suggestion: '' },
    );
    await expect.poll(() => buttonNamed('Saved').disabled).toBe(true);
    await router.replace(`${address}&baseline=c`);
    await expect.poll(() => buttonNamed('Save changes to rates').disabled).toBe(false);
    buttonNamed('Save changes to rates').click();
    const query = { ...rates.query, baseline: 'c' };
    await expect.poll(() => calls).toContainEqual(['updateComparison', rates.id, { query }]);
  });

  it('leaves its own name out of the address to save, and sees changes in any order of parameters', () => {
    expect(queryToSave({ runs: 'a', saved: 'x', empty: null, list: ['b'] })).toEqual({ runs: 'a' });
    expect(isChanged(rates, { metric: rates.query.metric, saved: rates.id, runs: 'a,b,c' })).toBe(false);
    expect(isChanged(rates, { ...rates.query, runs: 'a,b' })).toBe(true);
  });
});
