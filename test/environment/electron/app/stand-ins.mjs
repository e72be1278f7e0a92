/**
 * The Electron that Tutti ships has a newer Node: one with SQLite, and with a newer wire format of V8, which other versions of Node cannot read. This brings
 * both. `main` is the app's main module.
 */
import { builtinModules, register } from 'node:module';
import v8 from 'node:v8';

export async function standIn(main) {
  if (!builtinModules.includes('node:sqlite')) {
    register(new URL('hooks.mjs', import.meta.url), { data: { main } });
    const getBuiltin = process.getBuiltinModule.bind(process);
    const sqlite = await import('node:sqlite');
    process.getBuiltinModule = (name) => (name === 'node:sqlite' ? sqlite : getBuiltin(name));
  }
  v8.Serializer.prototype.writeHeader = function writeHeader() {
    this.writeRawBytes(Buffer.from([0xff, 16]));
  };
}
