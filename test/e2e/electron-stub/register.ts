import { registerHooks } from 'node:module';

/** Preloaded (`--import`) before the built main process. Makes `electron` the stub, and makes the process look like Electron. */
const stub = new URL('electron.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron' ? { url: stub, shortCircuit: true } : next(specifier, context),
});
Object.defineProperty(process, 'versions', { value: { ...process.versions, electron: 'stub' } });
