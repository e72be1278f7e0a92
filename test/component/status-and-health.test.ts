import { mount } from '@vue/test-utils';
import { describe, expect, it } from 'vitest';
import RunStatus from '../../src-renderer/components/RunStatus.vue';
import ValueCell from '../../src-renderer/components/ValueCell.vue';
import HealthChecks from '../../src-renderer/views/settings/HealthChecks.vue';

describe('the status of a run', () => {
  const pill = (props: object) => {
    const found = mount(RunStatus, { props: { status: 'finished', ...props } }).get('.pill');
    return { isDoubtful: found.classes('doubtful'), text: found.text() };
  };

  it('is no success where it finished with metrics that are not finite', () => {
    expect(pill({})).toEqual({ isDoubtful: false, text: 'finished' });
    expect(pill({ notFinite: 'NLL is NaN' })).toEqual({ isDoubtful: true, text: 'finished' });
    expect(mount(RunStatus, { props: { status: 'finished', notFinite: 'NLL is NaN' } }).text()).toContain('NLL is NaN');
  });

  it('stays a failure where it failed', () => {
    expect(pill({ status: 'failed', notFinite: 'NLL is NaN' }).isDoubtful).toBe(false);
  });
});

describe('a number', () => {
  const cell = (props: { value: number | null; reason?: string }) => {
    const found = mount(ValueCell, { props });
    return [found.text(), found.attributes('title') ?? null, found.classes('bad')];
  };

  it('is – with the reason where nobody knows it, and red where it is NaN', () => {
    expect(cell({ value: 0.41012 })).toEqual(['0.4101', null, false]);
    expect(cell({ value: null })).toEqual(['–, not measured', 'not measured', false]);
    expect(cell({ value: NaN })).toEqual(['–, not a number (NaN)', 'not a number (NaN)', true]);
    expect(cell({ value: NaN, reason: 'rank 2 diverged' })).toEqual(['–, rank 2 diverged', 'rank 2 diverged', true]);
    expect(cell({ value: 0.5, reason: 'unused' })).toEqual(['0.5000', null, false]);
    expect(cell({ value: Infinity })).toEqual(['∞', null, false]);
  });
});

it('an optional backend that is not set up has no tick', () => {
  const checks = [
    { name: 'backend wasm', verdict: 'ok' as const, detail: '10 GFLOP/s', remedy: null },
    {
      name: 'backend tensorflow',
      verdict: 'absent' as const,
      detail: 'not set up: npx tutti setup does',
      remedy: null,
    },
  ];
  const rows = mount(HealthChecks, { props: { checks } }).findAll('li');
  expect(rows.map((row) => row.get('span').text())).toEqual(['✓ok', '–not set up']);
  expect(rows[1].get('span').classes()).toEqual(['muted']);
});
