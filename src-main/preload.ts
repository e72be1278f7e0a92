import { contextBridge, ipcRenderer, webUtils } from 'electron';
import {
  commandChannel,
  messageChannel,
  openFolderChannel,
  saveFileChannel,
  type WindowBridge,
  type WindowCommand,
} from '../core/protocol/pages/window.ts';

/** What the page may ask of Electron's main process. It runs sandboxed, so it is built as CommonJS with all it imports. */
const bridge: WindowBridge<File> = {
  send: (bytes) => ipcRenderer.send(messageChannel, bytes),
  onMessage: (receive) => listen(messageChannel, (_event, bytes: Uint8Array) => receive(bytes)),
  onCommand: (receive) => listen(commandChannel, (_event, command: WindowCommand) => receive(command)),
  pathOf: (dropped) => webUtils.getPathForFile(dropped),
  openFolder: () => ipcRenderer.invoke(openFolderChannel),
  saveFile: (exported) => ipcRenderer.invoke(saveFileChannel, exported),
};

function listen(channel: string, hear: Parameters<typeof ipcRenderer.on>[1]): () => void {
  ipcRenderer.on(channel, hear);
  return () => ipcRenderer.off(channel, hear);
}

contextBridge.exposeInMainWorld('tutti', bridge);
