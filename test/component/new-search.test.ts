import { flushPromises } from '@vue/test-utils';
import { describe, expect, it, vi } from 'vitest';
import type { SearchRequest } from '../../core/protocol/pages/discovery-views.ts';
import { runConfigSchema } from '../../core/protocol/run/config.ts';
import { readForm, type SearchForm } from '../../src-renderer/views/discover/search-form.ts';
import NewSearchPage from '../../src-renderer/views/discover/NewSearchPage.vue';
// The page that opens then. A router would load it later.
import '../../src-renderer/views/discover/DiscoveryPage.vue';
import { buttonNamed, mountPage } from './mount-page.ts';

const form: SearchForm = {
  name: ' Screen ',
  hitClass: 1,
  direction: 'minimize',
  threshold: '',
  oracle: 'hidden',
  command: '',
  acquisition: 'greedy',
  batch: 'top',
  kappa: 1,
  xi: 0,
  beside: ['random', 'greedy'],
  start: 10,
  isStartStratified: true,
  perRound: 5,
  rounds: 2,
  hasClassWeights: true,
  isWarm: false,
  seed: 3,
  fixed: [],
};

describe('the request of a new search', () => {
  it('leaves out what does not apply', () => {
    const ofClass = readForm(form, { folder: '/p', task: 'binary', options: [] }).request;
    expect(ofClass).toMatchObject({ name: 'Screen', goal: { kind: 'class', label: 1 }, beside: ['random'] });
    expect(ofClass).toMatchObject({ isStartStratified: true, hasClassWeights: true, oracle: { kind: 'hidden' } });
    const ofValues = readForm({ ...form, threshold: '0.5' }, { folder: '/p', task: 'regression', options: [] }).request;
    expect(ofValues).toMatchObject({ goal: { kind: 'minimize', threshold: 0.5 }, hasClassWeights: false });
    // Nobody knows the classes that a person will give.
    const asked = readForm({ ...form, oracle: 'person' }, { folder: '/p', task: 'binary', options: [] }).request;
    expect(asked?.isStartStratified).toBe(false);
  });

  it('says what is wrong with a field', () => {
    const wrong: SearchForm = {
      ...form,
      oracle: 'command',
      batch: 'fantasies',
      rounds: 0,
      seed: 1.5,
      threshold: 'low',
      fixed: [{ path: 'nothing', text: '1' }],
    };
    const { request, problems } = readForm(wrong, { folder: '/p', task: 'regression', options: [] });
    expect(request).toBeNull();
    expect(Object.keys(problems).sort()).toEqual(['batch', 'command', 'fixed', 'rounds', 'seed', 'threshold']);
    expect(problems.batch).toContain('which greedy does not use');
  });
});

describe('the page of a new search', () => {
  const described = (task: string) => ({
    description: {
      name: 'Molecules',
      description: '',
      task,
      hasOwnLoss: false,
      hyperparameters: [],
      defaults: {},
      permissions: {},
    },
    options: [{ path: 'members', kind: 'number' }],
    defaults: runConfigSchema.parse({}),
  });

  it('begins a search, and opens its page', async () => {
    const { wrapper, calls, router } = await mountPage(
      NewSearchPage,
      { address: '/new-search?project=/p' },
      { projects: () => [], describeProject: () => described('binary'), createDiscovery: () => ({ id: 'new' }) },
    );
    const field = (label: string) => wrapper.findAll('.field').find((own) => own.get('label, span').text() === label);
    await field('Who labels')?.get('select').setValue('person');
    await field('Acquisition')?.get('select').setValue('ei');
    await field('Rounds')?.get('input').setValue('0');
    expect(buttonNamed('Start the search').disabled).toBe(true);
    await field('Rounds')?.get('input').setValue('4');
    await wrapper.get('[aria-label="Remove option 1"]').trigger('click');
    await wrapper.get('form').trigger('submit');
    await flushPromises();
    const request = calls.find(([method]) => method === 'createDiscovery')?.[1] as SearchRequest;
    expect(request).toMatchObject({ projectFolder: '/p', rounds: 4, oracle: { kind: 'person' }, beside: [] });
    expect(request.acquisition.kind).toBe('ei');
    await vi.waitFor(() => expect(router.currentRoute.value.fullPath).toBe('/discover/new'));
  });

  it('refuses a task that cannot be searched', async () => {
    const { wrapper } = await mountPage(
      NewSearchPage,
      { address: '/new-search?project=/p' },
      { projects: () => [], describeProject: () => described('autoencoder') },
    );
    expect(wrapper.text()).toContain('This project has the task autoencoder.');
  });
});
