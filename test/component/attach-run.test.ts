import { flushPromises } from '@vue/test-utils';
import { describe, expect, it, vi } from 'vitest';
import type { Router } from 'vue-router';
import CommandList from '../../src-renderer/components/frame/CommandList.vue';
import ToastStack from '../../src-renderer/components/frame/ToastStack.vue';
import { useSessionStore } from '../../src-renderer/stores/session.ts';
import RemoteLink from '../../src-renderer/views/run/header/RemoteLink.vue';
import AttachRunDialog from '../../src-renderer/views/runs/AttachRunDialog.vue';
import type { Remote } from '../../core/protocol/run/record.ts';
import { runRecord, runView } from '../unit/renderer/run-fixtures.ts';
import { buttonNamed, type HubAnswers, mountPage } from './mount-page.ts';

const session = (role: 'owner' | 'watcher') => () => ({ role, canInvite: false, program: 'npx tutti' });

function field(label: string): HTMLInputElement {
  const id = [...document.querySelectorAll('label')].find(({ textContent }) => textContent === label)?.htmlFor;
  const found = document.getElementById(id ?? '');
  if (found instanceof HTMLInputElement) return found;
  throw new Error(`There is no field "${label}".`);
}

async function type(label: string, text: string): Promise<void> {
  const input = field(label);
  input.value = text;
  input.dispatchEvent(new Event('input'));
  await flushPromises();
}

/** Records where the page goes, without loading that page. */
const goings = (router: Router) => vi.spyOn(router, 'push').mockResolvedValue(undefined);

const message = (): string => document.querySelector('#attach-message')?.textContent.trim() ?? '';

describe('the dialog that attaches to a remote run', () => {
  const open = (answers: HubAnswers) => mountPage(AttachRunDialog, {}, answers);

  it('names the rule that an address breaks, and attaches only to one that keeps it', async () => {
    await open({});
    expect([message(), buttonNamed('Attach').disabled]).toEqual(['', true]);
    await type('Address', 'login');
    expect(message()).toContain('Write user@login:run, with a colon');
    expect(field('Address').getAttribute('aria-invalid')).toBe('true');
    await type('Address', '-oProxyCommand=x:run');
    expect(message()).toContain('"-oProxyCommand=x" is no host as ssh takes it');
    expect(buttonNamed('Attach').disabled).toBe(true);
    await type('Address', ' me@login:my run ');
    expect(buttonNamed('Attach').disabled).toBe(false);
    expect(message()).toContain("In a terminal: tutti attach 'me@login:my run'");
    await type("Tutti's home there", '/scratch/me');
    expect(message()).toContain("tutti attach 'me@login:my run' --home /scratch/me");
  });

  it('says that it connects, shows what ssh said with its lines, and then the run', async () => {
    let answer = Promise.withResolvers<{ id: string }>();
    const { wrapper, calls, router } = await open({ attachRun: () => answer.promise });
    const pushed = goings(router);
    await type('Address', 'me@login:');
    buttonNamed('Attach').click();
    await flushPromises();
    expect([message(), buttonNamed('Attach').disabled]).toEqual(['Connecting to me@login …', true]);
    answer.reject(new Error('ssh me@login ended with exit code 255: Permission denied.\nLoad a key.'));
    await expect.poll(message).toBe('ssh me@login ended with exit code 255: Permission denied.\nLoad a key.');
    answer = Promise.withResolvers();
    buttonNamed('Attach').click();
    answer.resolve({ id: 'r7' });
    await expect.poll(() => pushed.mock.calls).toEqual([[{ name: 'run', params: { id: 'r7' } }]]);
    expect(calls.filter(([method]) => method === 'attachRun')).toEqual([
      ['attachRun', 'me@login:', null],
      ['attachRun', 'me@login:', null],
    ]);
    expect(wrapper.emitted('close')).toBeUndefined();
  });

  it('detaches from a run that it reaches after the user has cancelled', async () => {
    const answer = Promise.withResolvers<{ id: string }>();
    const { wrapper, calls, router } = await open({ attachRun: () => answer.promise });
    await type('Address', 'login:run');
    buttonNamed('Attach').click();
    await flushPromises();
    buttonNamed('Cancel').click();
    expect(wrapper.emitted('close')).toHaveLength(1);
    wrapper.unmount();
    answer.resolve({ id: 'r7' });
    await expect.poll(() => calls.at(-1)).toEqual(['detachRun', 'r7']);
    expect(router.currentRoute.value.fullPath).toBe('/');
  });
});

describe('the line of a run on another machine', () => {
  interface Shown {
    role?: 'owner' | 'watcher';
    answers?: HubAnswers;
    isFollowedHere?: boolean;
  }

  async function show(link: Remote['link'], { role = 'owner', answers = {}, isFollowedHere = true }: Shown = {}) {
    const remote = { from: 'me@login', home: null, folder: '/far/run', link, since: '2026-01-01T00:00:00.000Z' };
    const hub = link === 'left' ? null : { host: 'desk', pid: 4711, socket: '/s' };
    const view = runView({
      record: runRecord({ hub, remote: { ...remote, reason: link === 'lost' ? 'ssh: gone' : null } }),
      isFollowedHere: link !== 'left' && isFollowedHere,
    });
    const page = await mountPage(
      {
        components: { RemoteLink, ToastStack },
        setup: () => ({ view }),
        template: '<RemoteLink :view /><ToastStack />',
      },
      {},
      { ...answers, session: session(role) },
    );
    await useSessionStore().load();
    return { ...page, line: () => page.wrapper.get('.remote').text() };
  }

  it('detaches and follows again, and reports a refusal', async () => {
    const { calls, line } = await show('connected', {
      answers: { detachRun: () => Promise.reject(new Error('press q there')) },
    });
    expect(line()).toBe('On me@login Detach');
    buttonNamed('Detach').click();
    await expect.poll(() => document.querySelector('.toasts')?.textContent).toContain('press q there');
    expect(calls.at(-1)).toEqual(['detachRun', 'r']);
    expect((await show('lost')).line()).toMatch(/connecting again: ssh: gone.*Detach$/s);
    const left = await show('left');
    expect(left.line()).toMatch(/nothing follows it.*Follow again$/s);
    buttonNamed('Follow again').click();
    await expect.poll(() => left.calls.at(-1)).toEqual(['attachRun', 'r', null]);
  });

  it('says which other process follows it, whose link this dashboard cannot end', async () => {
    const { wrapper, line } = await show('connected', { isFollowedHere: false });
    expect(line()).toBe('On me@login followed by process 4711 on desk, not by this dashboard');
    expect(wrapper.findAll('.remote button')).toEqual([]);
    expect((await show('lost', { isFollowedHere: false })).line()).toMatch(/ssh: gone.*followed by process 4711/s);
  });

  it('offers neither to those who only watch', async () => {
    expect((await show('connected', { role: 'watcher' })).wrapper.findAll('.remote button')).toEqual([]);
    expect((await show('left', { role: 'watcher' })).wrapper.findAll('.remote button')).toEqual([]);
  });
});

it.each([
  ['owner' as const, ['Attach to a remote run…']],
  ['watcher' as const, []],
])('the palette offers it to the %s: %j', async (role, offered) => {
  const answers = { projects: () => [], runs: () => ({ rows: [], total: 0 }), session: session(role) };
  const { wrapper, router } = await mountPage(CommandList, {}, answers);
  await useSessionStore().load();
  await wrapper.get('input').setValue('remote run');
  expect(wrapper.findAll('[role=option]').map((option) => option.get('.clipped').text())).toEqual(offered);
  if (offered.length === 0) return;
  const pushed = goings(router);
  await wrapper.get('[role=option]').trigger('click');
  expect(pushed).toHaveBeenCalledWith({ name: 'runs', query: { attach: 'remote' } });
});
