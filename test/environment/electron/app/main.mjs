/**
 * Stands in for Electron's default app, which packaged apps lack: runs the app that the command line names. An ES module that awaits, because
 * Electron becomes ready only once its main module has been evaluated.
 */
import { builtinModules, createRequire, register } from 'node:module';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import v8 from 'node:v8';
import { app, dialog } from 'electron';

const given = process.argv.slice(1).find((argument) => !argument.startsWith('-'));
if (given === undefined) {
  console.error('Name the app to run.');
  process.exit(2);
}
const main = resolve(given);
app.setAppPath(dirname(main));

// The Electron that Tutti ships has a newer Node: one with SQLite, and with a newer wire format of V8, which other versions of Node cannot read.
if (!builtinModules.includes('node:sqlite')) {
  register(new URL('hooks.mjs', import.meta.url), { data: { main } });
  const getBuiltin = process.getBuiltinModule.bind(process);
  const sqlite = await import('node:sqlite');
  process.getBuiltinModule = (name) => (name === 'node:sqlite' ? sqlite : getBuiltin(name));
}
v8.Serializer.prototype.writeHeader = function writeHeader() {
  this.writeRawBytes(Buffer.from([0xff, 16]));
};

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
