import { contextBridge, ipcRenderer, type IpcRendererEvent } from 'electron';
import type { ListedRun } from '../protocol/run-list.ts';
import { runListChannel, runsChangedChannel, type WindowBridge } from '../protocol/window.ts';

/** What the page may ask of Electron's main process. It runs sandboxed, so it is built as CommonJS with all it imports. */
const bridge: WindowBridge = {
  listRuns: () => ipcRenderer.invoke(runListChannel),
  onRunsChanged(changed) {
    const take = (_event: IpcRendererEvent, runs: ListedRun[]): void => changed(runs);
    ipcRenderer.on(runsChangedChannel, take);
    return () => ipcRenderer.off(runsChangedChannel, take);
  },
};

contextBridge.exposeInMainWorld('tutti', bridge);
