/**
 * Stands in for Electron's default app, which packaged apps lack: runs the app that the command line names. An ES
 * module that awaits, because Electron becomes ready only once its main module has been evaluated.
 */
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { app, dialog } from 'electron';
import { standIn } from './stand-ins.mjs';

const given = process.argv.slice(1).find((argument) => !argument.startsWith('-'));
if (given === undefined) {
  console.error('Name the app to run.');
  process.exit(2);
}
const main = resolve(given);
app.setAppPath(dirname(main));

standIn();

// Playwright's own preparation, which delays the app until Playwright is connected: it loses windows that open before.
if (process.env.PLAYWRIGHT_LOADER !== undefined) createRequire(import.meta.url)(process.env.PLAYWRIGHT_LOADER);

// Nobody could close a box on a display without a screen.
dialog.showErrorBox = (title, text) => console.error(`[${title}] ${text}`);

try {
  await import(pathToFileURL(main).href);
} catch (error) {
  console.error(error);
  process.exit(1);
}
