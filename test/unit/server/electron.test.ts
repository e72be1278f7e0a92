import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { ListedRun } from '../../../protocol/run-list.ts';
import { runListChannel, runsChangedChannel, type WindowBridge } from '../../../protocol/window.ts';
import { RunIndex } from '../../../src-main/store/run-index.ts';
import { runRecord } from '../store/records.ts';

/** What of Electron the app uses, kept in memory. It tests how the app is wired, not Electron. */
const electron = vi.hoisted(() => {
  const { EventEmitter } = process.getBuiltinModule('node:events');
  type Handler = (event: { senderFrame: unknown }) => Promise<unknown>;
  const state = {
    ready: Promise.withResolvers<void>(),
    options: [] as { webPreferences: object }[],
    windows: [] as InstanceType<typeof EventEmitter>[],
    handlers: new Map<string, Handler>(),
    sent: new EventEmitter(),
    exposed: new Map<string, WindowBridge>(),
    loaded: Promise.withResolvers<string>(),
  };
  class BrowserWindow extends EventEmitter {
    readonly webContents = {
      mainFrame: 'the page',
      send: (channel: string, ...args: unknown[]) => state.sent.emit(channel, { sender: 'main' }, ...args),
    };
    constructor(options: { webPreferences: object }) {
      super();
      state.options.push(options);
      state.windows.push(this);
    }
    async loadFile(file: string): Promise<void> {
      state.loaded.resolve(file);
    }
  }
  const app = Object.assign(new EventEmitter(), {
    whenReady: () => state.ready.promise,
    quit: vi.fn<() => void>(),
    exit: vi.fn<(code: number) => void>(),
  });
  const module = {
    app,
    BrowserWindow,
    session: { defaultSession: { setPermissionRequestHandler: vi.fn<() => void>() } },
    ipcMain: { handle: (channel: string, handler: Handler) => state.handlers.set(channel, handler) },
    ipcRenderer: Object.assign(state.sent, {
      invoke: (channel: string) => state.handlers.get(channel)?.({ senderFrame: 'the page' }),
    }),
    contextBridge: { exposeInMainWorld: (name: string, bridge: WindowBridge) => state.exposed.set(name, bridge) },
  };
  return { state, module };
});
vi.mock('electron', () => electron.module);

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'tutti-electron-'));
  vi.stubEnv('TUTTI_HOME', home);
});

it('opens one sandboxed window that may ask for the runs and is told of changes', async () => {
  const { state, module } = electron;
  await import('../../../src-main/electron.ts');
  expect(state.windows).toEqual([]);
  state.ready.resolve();
  expect(await state.loaded.promise).toMatch(/renderer[/\\]index\.html$/);
  onTestFinished(async () => {
    state.windows[0].emit('closed');
    vi.unstubAllEnvs();
    await rm(home, { recursive: true });
  });
  expect(state.options[0].webPreferences).toMatchObject({
    contextIsolation: true,
    sandbox: true,
    nodeIntegration: false,
  });

  await import('../../../src-main/preload.ts');
  expect([...state.exposed.keys()]).toEqual(['tutti']);
  const bridge = state.exposed.get('tutti');
  if (bridge === undefined) throw new Error('The preload exposed nothing.');
  expect(Object.keys(bridge)).toEqual(['listRuns', 'onRunsChanged']);
  expect(await bridge.listRuns()).toEqual([]);
  expect(() => state.handlers.get(runListChannel)?.({ senderFrame: 'an iframe' })).toThrow(/Only the page/);

  const changed = Promise.withResolvers<ListedRun[]>();
  const unsubscribe = bridge.onRunsChanged(changed.resolve);
  const elsewhere = await RunIndex.open(home);
  elsewhere.upsert(runRecord({ status: 'running' }), join(home, 'runs', 'run-1'));
  elsewhere.close();
  expect((await changed.promise).map(({ id, status }) => [id, status])).toEqual([['run-1', 'running']]);
  unsubscribe();
  expect(state.sent.listenerCount(runsChangedChannel)).toBe(0);

  const listeners = new Map<string, (event: { preventDefault(): void }) => void>();
  let open = (): unknown => null;
  module.app.emit('web-contents-created', null, {
    on: listeners.set.bind(listeners),
    setWindowOpenHandler: (handler: () => unknown) => (open = handler),
  });
  expect(open()).toEqual({ action: 'deny' });
  const preventDefault = vi.fn<() => void>();
  listeners.get('will-navigate')?.({ preventDefault });
  expect(preventDefault).toHaveBeenCalledOnce();
});
