import { describe, expect, it } from 'vitest';
import type { RunView } from '../../core/protocol/pages/run-views.ts';
import type { RunEvent, RunStatus } from '../../core/protocol/run/record.ts';
import ToastStack from '../../src-renderer/components/frame/ToastStack.vue';
import RunPage from '../../src-renderer/views/run/RunPage.vue';
import { runRecord, runRow, runView } from '../unit/renderer/run-fixtures.ts';
import { buttonNamed, type HubAnswers, mountPage, type MountedPage } from './mount-page.ts';

const paused: RunEvent = {
  time: '2026-01-01T00:00:01.000Z',
  attempt: 1,
  rank: null,
  kind: 'paused',
  epoch: null,
  step: null,
  message: 'Paused.',
  data: {},
};

interface Page extends MountedPage {
  /** Calls that change the run. */
  requests: () => unknown[];
  labels: () => string[];
}

async function open(status: RunStatus, changes: Partial<RunView> = {}, answers: HubAnswers = {}): Promise<Page> {
  const own = { record: runRecord({ status }), row: runRow({ status }) };
  const page = await mountPage(
    { components: { RunPage, ToastStack }, template: '<RunPage id="r" tab="configuration" /><ToastStack />' },
    { address: '/runs/r/configuration' },
    {
      run: () => runView({ ...own, ...changes }),
      series: () => ({ series: [] }),
      deviceLoads: () => [],
      attemptCommands: () => [],
      previewResume: () => ({ hasChangedCode: false }),
      ...answers,
      describeProject: () => {
        throw new Error('The project is gone.');
      },
    },
  );
  await expect.poll(() => page.wrapper.find('.controls').exists()).toBe(true);
  const sent = new Set(['control', 'abort', 'resumeRun']);
  const labels = (): string[] =>
    page.wrapper
      .findAll('.controls > .button')
      .map((button) => button.text())
      .filter((text) => text !== '');
  return { ...page, requests: () => page.calls.filter(([method]) => sent.has(method)), labels };
}

const menuItems = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('[role=menuitem]')];

/** Opens the menu in the header of the page that was opened last. */
async function openMenu(): Promise<void> {
  const trigger = [...document.querySelectorAll('[aria-label="More actions"]')].at(-1);
  trigger?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true }));
  await expect.poll(menuItems).not.toEqual([]);
}

/** What that menu offers. */
async function offers(): Promise<string[]> {
  await openMenu();
  const names = menuItems().map(({ textContent }) => textContent.trim());
  menuItems()[0].dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
  await expect.poll(menuItems).toEqual([]);
  return names;
}

const toast = (page: Page): string => page.wrapper.get('.toasts').text();

describe('the controls of a run', () => {
  it('fit its state', async () => {
    expect((await open('running')).labels()).toEqual(['Pause', 'Stop jointly']);
    const running = ['Edit settings', 'Checkpoint now', 'Run again', 'Open in new window', 'Export', 'Report', 'Abort'];
    expect(await offers()).toEqual(running);
    expect((await open('running', { events: [paused] })).labels()[0]).toBe('Resume');
    const ended = ['Resume with changes', 'Open in new window', 'Export', 'Report'];
    expect((await open('finished')).labels()).toEqual(['Run again']);
    expect(await offers()).toEqual(ended);
    for (const status of ['stopped', 'failed', 'interrupted'] as const) {
      expect((await open(status)).labels()).toEqual(['Resume', 'Run again']);
      expect(await offers()).toEqual(ended);
    }
  });

  it('say that nothing was saved instead of offering to resume', async () => {
    for (const status of ['stopped', 'failed', 'interrupted'] as const) {
      const page = await open(status, { holdsState: false });
      expect(page.labels()).toEqual(['Run again']);
      expect(await offers()).toEqual(['Open in new window', 'Export', 'Report']);
      expect(page.wrapper.get('.controls').text()).toContain('It saved no state, so it cannot resume.');
    }
  });

  it('offer to resume once the run has ended with a state that it saved since the page was opened', async () => {
    const changes: Partial<RunView> = { holdsState: false };
    const page = await open('running', changes);
    const record = runRecord({ status: 'stopped' });
    // What the hub answers from now on.
    Object.assign(changes, { record, row: runRow({ status: 'stopped' }), holdsState: true });
    page.hub.page?.runUpdates('r', [{ type: 'ended', record }]);
    await expect.poll(page.labels).toEqual(['Resume', 'Run again']);
    expect(await offers()).toContain('Resume with changes');
  });

  it('are disabled with the reason where another machine trains the run', async () => {
    const page = await open('running', { isInReach: false });
    const pause = buttonNamed('Pause');
    expect(pause.disabled).toBe(true);
    expect(pause.title).toBe('This run trains on another machine. Control it there.');
    window.dispatchEvent(new KeyboardEvent('keydown', { key: '.' }));
    window.dispatchEvent(new KeyboardEvent('keydown', { key: 'c' }));
    await expect.poll(() => document.querySelector('[role=alertdialog]')).toBeNull();
    expect(page.requests()).toEqual([]);
  });

  it('pause, and resume a paused run', async () => {
    const page = await open('running');
    buttonNamed('Pause').click();
    await expect.poll(page.requests).toEqual([['control', 'r', { action: 'pause' }]]);
    await expect.poll(() => toast(page)).toContain('Every rank pauses at its next step and keeps its device.');
    page.wrapper.unmount();
    const other = await open('running', { events: [paused] });
    expect(other.wrapper.get('.state').text()).toContain('paused');
    buttonNamed('Resume').click();
    await expect.poll(other.requests).toEqual([['control', 'r', { action: 'resume' }]]);
  });

  it('number the checkpoints that a user asks for', async () => {
    const asked: RunEvent = { ...paused, kind: 'checkpoint-requested', data: { name: 'requested-1' } };
    const page = await open('running', { events: [asked] });
    window.dispatchEvent(new KeyboardEvent('keydown', { key: 'c' }));
    await expect.poll(page.requests).toEqual([['control', 'r', { action: 'checkpoint', name: 'requested-2' }]]);
  });

  it('ask before a stop, and offer to wait for the end of the epoch', async () => {
    const page = await open('running');
    buttonNamed('Stop jointly').click();
    await expect
      .poll(() => document.querySelector('[role=alertdialog] h2')?.textContent)
      .toBe('Stop all ranks jointly?');
    buttonNamed('Keep training').click();
    await expect.poll(() => document.querySelector('[role=alertdialog]')).toBeNull();
    expect(page.requests()).toEqual([]);
    buttonNamed('Stop jointly').click();
    await expect.poll(() => document.querySelector('[role=alertdialog]')).not.toBeNull();
    buttonNamed('Stop at the end of the epoch').click();
    await expect.poll(page.requests).toEqual([['control', 'r', { action: 'stop-at-epoch-end' }]]);
    await expect.poll(() => toast(page)).toContain('All ranks stop at the end of their epoch.');
  });

  it('stop and abort once they are confirmed', async () => {
    const page = await open('running');
    buttonNamed('Stop jointly').click();
    await expect.poll(() => document.querySelector('[role=alertdialog]')).not.toBeNull();
    buttonNamed('Stop now').click();
    await expect.poll(page.requests).toEqual([['control', 'r', { action: 'stop' }]]);
    await expect.poll(() => document.querySelector('[role=alertdialog]')).toBeNull();
    await openMenu();
    buttonNamed('Abort').click();
    await expect.poll(() => document.querySelector('[role=alertdialog] .danger')).not.toBeNull();
    document.querySelector<HTMLButtonElement>('[role=alertdialog] .danger')?.click();
    await expect.poll(page.requests).toEqual([
      ['control', 'r', { action: 'stop' }],
      ['abort', 'r'],
    ]);
  });

  it('resume a stopped run and read it again', async () => {
    const page = await open('stopped');
    const reads = () => page.calls.filter(([method]) => method === 'run').length;
    const before = reads();
    buttonNamed('Resume').click();
    await expect.poll(page.requests).toEqual([['resumeRun', 'r', {}, null, false]]);
    await expect.poll(reads).toBe(before + 1);
  });

  it.each([
    ['Use the kept code', false],
    ['Use the present code', true],
  ])('ask for the code where the project has changed: %s', async (button, currentSource) => {
    const page = await open('stopped', {}, { previewResume: () => ({ hasChangedCode: true }) });
    buttonNamed('Resume').click();
    await expect
      .poll(() => document.querySelector('[role=alertdialog]')?.textContent)
      .toContain("The project's code has changed since the run trained.");
    expect(page.requests()).toEqual([]);
    buttonNamed(button).click();
    await expect.poll(page.requests).toEqual([['resumeRun', 'r', {}, null, currentSource]]);
    await expect.poll(() => document.querySelector('[role=alertdialog]')).toBeNull();
  });

  it('do not resume where the question is left unanswered, and say why a preview fails', async () => {
    const page = await open('stopped', {}, { previewResume: () => ({ hasChangedCode: true }) });
    buttonNamed('Resume').click();
    await expect.poll(() => document.querySelector('[role=alertdialog]')).not.toBeNull();
    buttonNamed('Cancel').click();
    await expect.poll(() => document.querySelector('[role=alertdialog]')).toBeNull();
    expect(page.requests()).toEqual([]);
    page.wrapper.unmount();
    const failed = await open('stopped', {}, { previewResume: () => Promise.reject(new Error('No such folder.')) });
    buttonNamed('Resume').click();
    await expect.poll(() => toast(failed)).toContain('No such folder.');
    expect(failed.requests()).toEqual([]);
  });
});

describe('a change while training', () => {
  const field = (name: string): HTMLInputElement =>
    document.querySelector<HTMLInputElement>(`#change-${name}`) ?? expect.fail(`There is no field ${name}.`);
  async function type(name: string, text: string): Promise<void> {
    field(name).value = text;
    field(name).dispatchEvent(new Event('input'));
    await Promise.resolve();
  }

  it('is checked, sent, and can be undone', async () => {
    const page = await open('running');
    const { learningRate } = runRecord().config.optimizer;
    await openMenu();
    buttonNamed('Edit settings').click();
    await expect.poll(() => document.querySelector('#change-learningRate')).not.toBeNull();
    expect(field('learningRate').value).toBe(String(learningRate));
    const submit = () => document.querySelector<HTMLButtonElement>('[role=dialog] [type=submit]');
    expect(submit()?.disabled).toBe(true);
    await type('learningRate', '-1');
    await expect
      .poll(() => document.querySelector('#change-learningRate-help [role=alert]')?.textContent)
      .toBe('Enter a number above 0.');
    expect(submit()?.disabled).toBe(true);
    await type('learningRate', '0.5');
    await expect.poll(() => submit()?.disabled).toBe(false);
    submit()?.click();
    const change = ['control', 'r', { action: 'set', changes: { learningRate: 0.5 } }];
    await expect.poll(page.requests).toEqual([change]);
    await expect
      .poll(() => toast(page))
      .toContain(`Learning rate ${learningRate} → 0.5, from the next step of every rank.`);
    buttonNamed('Undo').click();
    await expect.poll(page.requests).toEqual([change, ['control', 'r', { action: 'set', changes: { learningRate } }]]);
  });
});

describe('a run with missing members', () => {
  const unknown = { memoryTotalBytes: null, memoryUsedBytes: null, load: null, processCount: null };
  const device = { id: 'cpu:0', kind: 'cpu' as const, index: 0, name: 'A core', ...unknown };
  const plan = [0, 1].map((rank) => ({ rank, wave: 0, device }));
  const lostMembers = [{ rank: 1, attempt: 1, epoch: 4, step: 120, how: 'was killed by SIGKILL' }];
  const missing = (page: Page): string => page.wrapper.get('[aria-label="Missing members"]').text();

  it('says who is missing and since when, and completes a member', async () => {
    const page = await open('finished', { record: runRecord({ status: 'finished', plan, lostMembers }) });
    expect(missing(page)).toContain('1 of 2 members since epoch 5: rank 1 was killed by SIGKILL.');
    buttonNamed('Complete rank 1').click();
    await expect.poll(page.requests).toEqual([['resumeRun', 'r', {}, 1, false]]);
  });

  it('offers no completion while it trains', async () => {
    const page = await open('running', { record: runRecord({ status: 'running', plan, lostMembers }) });
    expect(missing(page)).toMatch(/rank 1 was killed by SIGKILL\.$/);
  });
});

describe('a full disk', () => {
  const full = (rank: number | null, second: number): RunEvent => ({
    ...paused,
    time: `2026-01-01T00:00:0${second}.000Z`,
    rank,
    kind: 'disk-full',
    message:
      'Waiting for disk space: final.safetensors of ' +
      `${rank === null ? 'the hub' : `rank ${rank}`} cannot be written.`,
  });
  const notice = (page: Page) => page.wrapper.find('.disk-wait');

  it('is shown with what waits until there is room for all', async () => {
    const page = await open('running', { events: [full(1, 1), full(null, 2), full(0, 3)] });
    expect(notice(page).get('h2').text()).toBe('Paused: the disk is full');
    expect(notice(page).text()).toContain('final.safetensors of rank 1 cannot be written');
    expect(notice(page).text()).toContain('Waiting: ranks 0, 1; metrics and events, which stay in memory meanwhile.');
    const room = [0, 1, null].map((rank): RunEvent => ({ ...full(rank, 4), kind: 'disk-room' }));
    const part = await open('running', { events: [full(1, 1), full(null, 2), room[2]] });
    expect(notice(part).text()).toContain('Waiting: rank 1.');
    const free = await open('running', { events: [full(1, 1), full(null, 2), full(0, 3), ...room] });
    expect(notice(free).exists()).toBe(false);
  });

  it('is not shown once the run has ended', async () => {
    expect(notice(await open('interrupted', { events: [full(1, 1)] })).exists()).toBe(false);
  });
});

it('a failed run shows the place in the project and its lines, with the blanks before the caret', async () => {
  const error = { message: 'No such layer.', rank: 1, device: 'cpu:1', epoch: 0, step: 0 };
  const excerpt = '> 18 |   layers.densse()\n     |          ^';
  const record = runRecord({ status: 'failed', error: { ...error, source: 'project.ts:18:10', excerpt } });
  const { wrapper } = await open('failed', { record });
  const failure = wrapper.get('.run-header [role=alert]');
  expect(failure.text()).toContain('No such layer.');
  expect(failure.text()).toContain('at project.ts:18:10');
  expect(failure.get('pre').element.textContent).toBe(excerpt);
});
