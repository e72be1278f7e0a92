import { contextBridge, ipcRenderer, webUtils } from 'electron';
import {
  commandChannel,
  messageChannel,
  openFolderChannel,
  saveFileChannel,
  themeChannel,
  type WindowBridge,
  type WindowCommand,
} from '../core/protocol/pages/window.ts';

/** The page's interface to Electron's main process. The preload is sandboxed, so it is built as one CommonJS file. */
const bridge: WindowBridge<File> = {
  send: (bytes) => ipcRenderer.send(messageChannel, bytes),
  onMessage: (receive) => listen(messageChannel, (_event, bytes: Uint8Array) => receive(bytes)),
  onCommand: (receive) => listen(commandChannel, (_event, command: WindowCommand) => receive(command)),
  pathOf: (dropped) => webUtils.getPathForFile(dropped),
  openFolder: () => ipcRenderer.invoke(openFolderChannel),
  saveFile: (exported) => ipcRenderer.invoke(saveFileChannel, exported),
  useTheme: (theme) => ipcRenderer.send(themeChannel, theme),
};

function listen(channel: string, listener: Parameters<typeof ipcRenderer.on>[1]): () => void {
  ipcRenderer.on(channel, listener);
  return () => ipcRenderer.off(channel, listener);
}

contextBridge.exposeInMainWorld('tutti', bridge);
