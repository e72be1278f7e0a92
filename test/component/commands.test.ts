import { describe, expect, it } from 'vitest';
import type { ProjectCard } from '../../core/protocol/pages/project-views.ts';
import CommandList from '../../src-renderer/components/frame/CommandList.vue';
import { type Command, findCommands } from '../../src-renderer/components/frame/use-commands.ts';
import { runRow } from '../unit/renderer/run-fixtures.ts';
import { mountPage } from './mount-page.ts';

describe('the search for commands', () => {
  const command = (label: string, detail = ''): Command => ({
    id: label,
    group: 'Runs',
    label,
    detail,
    run: () => undefined,
  });

  it('finds commands with every word, the earliest match first, up to a limit', () => {
    const commands = [command('wide cifar'), command('cifar', 'finished'), command('sine', 'cifar'), command('sine')];
    const labels = (query: string, limit = 10) => findCommands(commands, query, limit).map(({ label }) => label);
    expect(labels('CIFAR')).toEqual(['cifar', 'wide cifar', 'sine']);
    expect(labels('cifar finished')).toEqual(['cifar']);
    expect(labels('', 2)).toEqual(['wide cifar', 'cifar']);
  });
});

describe('the command palette', () => {
  const project: ProjectCard = {
    folder: '/sine',
    name: 'sine',
    description: '',
    task: 'regression',
    isExample: true,
    isTrusted: true,
    warning: null,
    asks: [],
    isDescribed: true,
    error: null,
    isOpened: true,
    isGone: false,
    lastRun: null,
  };

  async function open() {
    const answers = {
      projects: () => [project],
      runs: () => ({ rows: [runRow({ id: 'r7', name: 'wide sine' })], total: 1 }),
    };
    const { wrapper, router } = await mountPage(CommandList, {}, answers);
    const labels = () => wrapper.findAll('[role=option]').map((option) => option.get('.clipped').text());
    return { wrapper, router, labels };
  }

  it('offers pages, projects, runs and themes', async () => {
    const { wrapper, labels } = await open();
    await expect
      .poll(labels)
      .toEqual([
        'Projects',
        'Runs',
        'Studies',
        'Settings',
        'New from data',
        'Train sine',
        'wide sine',
        'Theme: system',
        'Theme: light',
        'Theme: dark',
      ]);
    await wrapper.get('input').setValue('sine');
    expect(labels()).toEqual(['wide sine', 'Train sine']);
    await wrapper.get('input').setValue('no such thing');
    expect(wrapper.get('[role=status]').text()).toBe('Nothing matches “no such thing”.');
  });

  it('opens the chosen result, and closes', async () => {
    const { wrapper, router } = await open();
    await wrapper.get('input').setValue('train');
    await wrapper.get('[role=option]').trigger('click');
    expect(wrapper.emitted('chosen')).toHaveLength(1);
    await expect.poll(() => router.currentRoute.value.fullPath).toBe('/configure?project=/sine');
  });
});
