import { describe, expect, it } from 'vitest';
import type { Postprocessing } from '../../core/postprocessing/schema.ts';
import FittedCards from '../../src-renderer/views/run/ensemble/FittedCards.vue';
import { calibratedSet, withTooFewDogs } from '../unit/postprocessing/recorded-file.ts';
import { mountPage } from './mount-page.ts';

const open = (fitted: Postprocessing[]) => mountPage(FittedCards, { props: { fitted, runName: 'Digits' } });

describe('the cards of what was fitted', () => {
  it('show figures before and after, coverage, detection and both charts', async () => {
    const { wrapper } = await open([calibratedSet]);
    const rows = wrapper.findAll('tbody tr').map((row) => row.findAll('th, td').map((cell) => cell.text()));
    expect(rows).toEqual([
      ['NLL', '0.5000', '0.4000'],
      ['ECE', '0.1000', '0.02000'],
      ['letters', '50.0 %', '0.9000', '0.9500'],
    ]);
    const titles = wrapper.findAll('.detection th[scope=col]').map((cell) => cell.text().replace(/\s+/g, ' '));
    expect(titles).toEqual(['Outside the training data', 'Flagged', 'entropy decides', 'energy']);
    expect(wrapper.get('.detection .best').text()).toBe('0.9500');
    await wrapper.findAll('.detection button')[3].trigger('click');
    expect(wrapper.findAll('.detection tbody td').map((cell) => cell.text())).toEqual(['50.0 %', '0.2000', '0.1500']);
    expect(wrapper.get('.detection .best').text()).toBe('0.1500');
    expect(wrapper.findAll('.fitted li').map((item) => item.text())).toEqual([
      'Coverage 91.0 % ± 2.9 %, wished 90.0 %; 1.250 classes in a set on average.',
      'AURC 0.01000, AUGRC 0.008000; 88.0 % answered with a risk of 0.05000.',
      '6.0 % of the test split counts as outside the training data.',
    ]);
    expect(wrapper.text()).toContain(
      'final, fitted on 200 validation samples, 120 for the calibration and 80 for the rest: joint ' +
        'temperatures 1.250, 1.500',
    );
    expect(wrapper.findAll('figure')).toHaveLength(3);
    const legends = wrapper.findAll('figure').map((figure) => figure.text());
    expect(legends[0]).toContain('ECE 0.1000');
    expect(legends[1]).toContain('ECE 0.0200');
  });

  it('name the classes that have too few samples', async () => {
    const { wrapper } = await open([withTooFewDogs]);
    expect(wrapper.findAll('.fitted .warn').map((caution) => caution.text())).toEqual([
      expect.stringContaining('Every set has dog: 5 samples of it fitted the threshold'),
    ]);
  });

  it('choose among sets, and say so where nothing was measured', async () => {
    const other: Postprocessing = {
      ...calibratedSet,
      set: { ...calibratedSet.set, name: 'member-best' },
      calibration: null,
      measured: null,
    };
    const { wrapper } = await open([calibratedSet, other]);
    await wrapper.find('select').setValue('member-best');
    expect(wrapper.text()).toContain(
      'member-best, fitted on 200 validation samples, 120 for the calibration and 80 for the rest: no calibration;',
    );
    expect(wrapper.text()).toContain('There is no other split to measure it on.');
    expect(wrapper.findAll('figure')).toHaveLength(0);
  });
});
