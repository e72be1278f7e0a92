import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { RunRow } from '../../../protocol/rpc.ts';
import { maximumCallBytes, messageChannel, openFolderChannel, type WindowBridge } from '../../../protocol/window.ts';
import { bridgeTransport } from '../../../src-renderer/client/bridge.ts';
import { HubClient } from '../../../src-renderer/client/hub-client.ts';
import { RunIndex } from '../../../src-main/store/run-index.ts';
import { runRecord } from '../store/records.ts';

/** What of Electron the app uses, kept in memory. It tests how the app is wired, not Electron. */
const electron = vi.hoisted(() => {
  const { EventEmitter } = process.getBuiltinModule('node:events');
  type Handler = (event: { senderFrame: unknown }, ...args: unknown[]) => Promise<unknown>;
  const mainFrame = 'the page';
  const state = {
    ready: Promise.withResolvers<void>(),
    options: [] as { webPreferences: object }[],
    windows: [] as BrowserWindow[],
    handlers: new Map<string, Handler>(),
    /** From the page to the main process, and back. */
    toMain: new EventEmitter(),
    toPage: new EventEmitter(),
    exposed: new Map<string, WindowBridge>(),
    loaded: Promise.withResolvers<string>(),
    reload: vi.fn<() => void>(),
  };
  class BrowserWindow extends EventEmitter {
    readonly webContents = Object.assign(new EventEmitter(), {
      mainFrame,
      isDestroyed: () => false,
      reload: state.reload,
      send: (channel: string, bytes: Uint8Array) =>
        state.toPage.emit(channel, { sender: 'main' }, structuredClone(bytes)),
    });
    constructor(options: { webPreferences: object }) {
      super();
      state.options.push(options);
      state.windows.push(this);
    }
    async loadFile(file: string): Promise<void> {
      this.webContents.emit('did-start-navigation', { isMainFrame: true, isSameDocument: false });
      state.loaded.resolve(file);
    }
    destroy(): void {
      this.emit('closed');
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
    dialog: { showOpenDialog: async () => ({ filePaths: ['/a/folder'] }) },
    session: { defaultSession: { setPermissionRequestHandler: vi.fn<() => void>() } },
    ipcMain: Object.assign(state.toMain, {
      handle: (channel: string, handler: Handler) => state.handlers.set(channel, handler),
    }),
    ipcRenderer: Object.assign(state.toPage, {
      send: (channel: string, bytes: Uint8Array) =>
        state.toMain.emit(channel, { senderFrame: mainFrame }, structuredClone(bytes)),
      invoke: (channel: string) => state.handlers.get(channel)?.({ senderFrame: mainFrame }),
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

it('opens one sandboxed window whose page, and nobody else, reaches the hub', async () => {
  const { state, module } = electron;
  await import('../../../src-main/electron.ts');
  expect(state.windows).toEqual([]);
  state.ready.resolve();
  expect(await state.loaded.promise).toMatch(/renderer[/\\]index\.html$/);
  onTestFinished(async () => {
    state.windows[0].emit('closed');
    const quitting = { preventDefault: vi.fn<() => void>() };
    module.app.emit('will-quit', quitting);
    await vi.waitFor(() => expect(module.app.quit).toHaveBeenCalledOnce());
    expect(quitting.preventDefault).toHaveBeenCalledOnce();
    vi.unstubAllEnvs();
    await rm(home, { recursive: true });
  });
  const preferences = { contextIsolation: true, sandbox: true, nodeIntegration: false };
  expect(state.options[0].webPreferences).toMatchObject(preferences);

  await import('../../../src-main/preload.ts');
  expect([...state.exposed.keys()]).toEqual(['tutti']);
  const bridge = state.exposed.get('tutti');
  if (bridge === undefined) throw new Error('The preload exposed nothing.');
  expect(Object.keys(bridge)).toEqual(['send', 'onMessage', 'openFolder', 'saveFile']);
  expect(await bridge.openFolder()).toBe('/a/folder');
  await expect(state.handlers.get(openFolderChannel)?.({ senderFrame: 'an iframe' })).rejects.toThrow(/Only the page/);

  const client = new HubClient(bridgeTransport(bridge));
  expect(await client.hub.runs()).toEqual([]);
  const changed = Promise.withResolvers<RunRow[]>();
  client.on('runsChanged', changed.resolve);
  const elsewhere = await RunIndex.open(home);
  elsewhere.upsert(runRecord({ status: 'finished' }), join(home, 'runs', 'run-1'));
  elsewhere.close();
  expect((await changed.promise).map(({ id, status }) => [id, status])).toEqual([['run-1', 'finished']]);

  state.toMain.emit(messageChannel, { senderFrame: 'an iframe' }, new Uint8Array(maximumCallBytes + 1));
  expect(state.reload).not.toHaveBeenCalled();
  bridge.send(new Uint8Array(maximumCallBytes + 1));
  expect(state.reload).toHaveBeenCalledOnce();
});

it('never navigates and opens no window', () => {
  const { module } = electron;
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
