/**
 * The Electron that Tutti ships has a newer Node: one with SQLite, and with a newer wire format of V8, which other
 * versions of Node cannot read. This brings both.
 */
import { builtinModules, createRequire, register } from 'node:module';
import v8 from 'node:v8';
import { app } from 'electron';

export function standIn() {
  if (!builtinModules.includes('node:sqlite')) standInForSqlite();
  v8.Serializer.prototype.writeHeader = function writeHeader() {
    this.writeRawBytes(Buffer.from([0xff, 16]));
  };
}

function standInForSqlite() {
  const getBuiltin = process.getBuiltinModule.bind(process);
  const require = createRequire(import.meta.url);
  process.getBuiltinModule = (name) => (name === 'node:sqlite' ? require('./sqlite.cjs') : getBuiltin(name));
  // Not before a window shows something: Node starts a thread for hooks, and the shipped Electron needs none. The app
  // opens its database later.
  const hook = once(() => register(new URL('hooks.mjs', import.meta.url)));
  app.on('browser-window-created', (_event, window) => {
    window.once('ready-to-show', hook);
    for (const event of ['did-finish-load', 'did-fail-load']) window.webContents.once(event, hook);
  });
}

function once(call) {
  let isCalled = false;
  return () => {
    if (!isCalled) call();
    isCalled = true;
  };
}
