/**
 * Stands in for Electron's default app, which packaged apps lack: runs the app that the command line names. An ES module that awaits, because
 * Electron becomes ready only once its main module has been evaluated.
 */
import { existsSync, readFileSync } from 'node:fs';
import Module from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import v8 from 'node:v8';
import { app } from 'electron';

const preloaded = [];
let file = null;
const given = process.argv.slice(1);
for (let i = 0; i < given.length && file === null; i++) {
  if (given[i] === '-r' || given[i] === '--require') preloaded.push(given[++i]);
  else if (!given[i].startsWith('-')) file = resolve(given[i]);
}
if (file === null) {
  console.error('Name the app to run.');
  process.exit(2);
}
Object.defineProperty(process, 'defaultApp', { value: true });
const packageFile = join(file, 'package.json');
if (existsSync(packageFile)) {
  const { name, productName, version, desktopName } = JSON.parse(readFileSync(packageFile, 'utf8'));
  app.setVersion(version);
  app.name = productName ?? name;
  if (desktopName !== undefined) app.setDesktopName(desktopName);
}
Module._preloadModules(preloaded);
const main = Module._resolveFilename(file, null, true);
app.setAppPath(existsSync(packageFile) ? file : dirname(main));

// The Electron that Tutti ships has a newer Node: one with SQLite, and with a newer wire format of V8, which other versions of Node cannot read.
if (!Module.builtinModules.includes('node:sqlite'))
  Module.register(new URL('hooks.mjs', import.meta.url), { data: { main } });
v8.Serializer.prototype.writeHeader = function writeHeader() {
  this.writeRawBytes(Buffer.from([0xff, 16]));
};

try {
  await import(pathToFileURL(main).href);
} catch (error) {
  console.error(error);
  process.exit(1);
}
