import { flushPromises } from '@vue/test-utils';
import { describe, expect, it } from 'vitest';
import { usualRequest } from '../../core/postprocessing/request.ts';
import FittedSection from '../../src-renderer/views/run/ensemble/FittedSection.vue';
import { useSessionStore } from '../../src-renderer/stores/session.ts';
import { calibratedSet } from '../unit/postprocessing/recorded-file.ts';
import { buttonNamed, type HubAnswers, mountPage } from './mount-page.ts';

const viewOf = (task: string, status = 'finished', strategy = 'independent') => ({
  row: { id: 'run-1', name: 'Wine' },
  record: {
    task,
    status,
    config: { strategy: { kind: strategy } },
    summary: { evaluatedSets: [{ set: 'final' }, { set: 'ensemble-best' }] },
  },
});

async function open(view: object, answers: HubAnswers = {}, role = 'owner') {
  const page = await mountPage(
    FittedSection,
    { props: { view } },
    { session: () => ({ role, canInvite: false }), postprocessing: () => [], ...answers },
  );
  await useSessionStore().load();
  await flushPromises();
  return page;
}

const titlesOf = (element: { findAll: (selector: string) => { text: () => string }[] }) =>
  element.findAll('option').map((option) => option.text());

describe('the form that calibrates', () => {
  it('asks for what suits the task, and shows what was fitted', async () => {
    let fitted = [] as (typeof calibratedSet)[];
    const { wrapper, calls } = await open(viewOf('classification'), {
      postprocessing: () => fitted,
      calibrate: () => {
        fitted = [calibratedSet];
        return { postprocessing: calibratedSet, warnings: ['The source has changed.'] };
      },
    });
    buttonNamed('Choose what to fit').click();
    await flushPromises();
    const [sets, split, method, conformal, outside] = wrapper.findAll('select');
    expect(titlesOf(sets)).toEqual(['ensemble-best', 'final']);
    expect(titlesOf(method)[0]).toBe('Usual: Temperature after averaging');
    expect(titlesOf(method)).toHaveLength(8);
    expect(titlesOf(conformal)).toEqual(['The smallest valid ones', 'Threshold sets', 'RAPS sets', 'APS sets', 'None']);
    expect(titlesOf(outside)).toContain('input mahalanobis');
    await split.setValue('test');
    await method.setValue('dirichlet');
    const risk = wrapper.findAll('input').at(-1);
    await risk?.setValue('0.05');
    await wrapper.get('form').trigger('submit');
    await flushPromises();
    expect(calls.find(([name]) => name === 'calibrate')).toEqual([
      'calibrate',
      'run-1',
      {
        set: 'ensemble-best',
        split: 'test',
        request: { ...usualRequest, method: 'dirichlet', risk: 0.05 },
        corruptions: false,
      },
    ]);
    expect(wrapper.get('.fitted').text()).toContain('joint temperatures 1.250, 1.500');
    expect(wrapper.text()).toContain('The source has changed.');
  });

  it('offers quantiles and values their own methods', async () => {
    for (const [task, methods, conformal] of [
      ['quantile-regression', ['None'], ['Usual: Widened quantiles', 'None']],
      [
        'regression',
        ['Usual: Scaled deviations', 'None'],
        ['Usual: Scaled intervals', 'Intervals of one width', 'None'],
      ],
    ] as const) {
      const { wrapper } = await open(viewOf(task));
      await wrapper.get('.calibrate button').trigger('click');
      const [, , first, second] = wrapper.findAll('select');
      expect([titlesOf(first), titlesOf(second)]).toEqual([methods, conformal]);
      expect(wrapper.find('[type=checkbox]').exists()).toBe(false);
      wrapper.unmount();
    }
  });

  it('says that predictions refuse what was fitted on the mean of jointly trained members', async () => {
    const fitted = { postprocessing: () => [calibratedSet] };
    const { wrapper } = await open(viewOf('classification', 'finished', 'joint'), fitted);
    expect(wrapper.get('.calibrate .warn').text()).toContain(
      'What was fitted for final is for members that answer by their mean',
    );
    wrapper.unmount();
    const independent = await open(viewOf('classification'), fitted);
    expect(independent.wrapper.find('.calibrate .warn').exists()).toBe(false);
    independent.wrapper.unmount();
  });

  it('offers no temperatures before averaging to members that answer by their product', async () => {
    const { wrapper } = await open(viewOf('classification', 'finished', 'joint'));
    await wrapper.get('.calibrate button').trigger('click');
    const [, , method] = wrapper.findAll('select');
    const expected = ['Usual: Temperature after averaging', 'Vector', 'Dirichlet', 'Isotonic', 'None'];
    expect(titlesOf(method)).toEqual(expected);
    wrapper.unmount();
  });

  it("names wrong numbers, and shows the hub's reason", async () => {
    const refusal = 'No threshold gives a risk of 0.';
    const { wrapper } = await open(viewOf('classification'), {
      calibrate: () => Promise.reject(new Error(refusal)),
    });
    await wrapper.get('.calibrate button').trigger('click');
    const submit = wrapper.get('[type=submit]');
    for (const [place, text, rule] of [
      [0, '1.5', 'Enter a number above 0 and at most 1.'],
      [1, '1', 'Enter a number above 0 and below 1.'],
      [4, '-1', 'Enter a number of at least 0, or nothing.'],
    ] as const) {
      const input = wrapper.findAll('input')[place];
      await input.setValue(text);
      expect(wrapper.get('.small.bad').text()).toBe(rule);
      expect(submit.attributes('disabled')).toBeDefined();
      await input.setValue('0.5');
    }
    await wrapper.get('form').trigger('submit');
    await flushPromises();
    expect(wrapper.get('[role=alert]').text()).toBe(refusal);
  });

  it('waits for the end of the run, and is hidden from watchers', async () => {
    const running = await open(viewOf('classification', 'running'));
    expect(running.wrapper.get('.calibrate button').attributes('disabled')).toBeDefined();
    running.wrapper.unmount();
    const watching = await open(viewOf('classification'), { postprocessing: () => [calibratedSet] }, 'watcher');
    expect(watching.wrapper.find('.calibrate').exists()).toBe(false);
    expect(watching.wrapper.find('.fitted').exists()).toBe(true);
  });
});
