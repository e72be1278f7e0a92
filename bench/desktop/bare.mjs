/** The least that Electron can do: one window that shows a word. */
import { app, BrowserWindow } from 'electron';

// Not awaited: Electron becomes ready only once this module has been evaluated.
void app.whenReady().then(() => new BrowserWindow({ width: 1280, height: 800 }).loadURL('data:text/html,<p>Bare</p>'));
