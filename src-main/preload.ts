import { contextBridge, ipcRenderer, type IpcRendererEvent } from 'electron';
import { messageChannel, openFolderChannel, saveFileChannel, type WindowBridge } from '../protocol/window.ts';

/** What the page may ask of Electron's main process. It runs sandboxed, so it is built as CommonJS with all it imports. */
const bridge: WindowBridge = {
  send: (bytes) => ipcRenderer.send(messageChannel, bytes),
  onMessage(receive) {
    const take = (_event: IpcRendererEvent, bytes: Uint8Array): void => receive(bytes);
    ipcRenderer.on(messageChannel, take);
    return () => ipcRenderer.off(messageChannel, take);
  },
  openFolder: () => ipcRenderer.invoke(openFolderChannel),
  saveFile: (exported) => ipcRenderer.invoke(saveFileChannel, exported),
};

contextBridge.exposeInMainWorld('tutti', bridge);
