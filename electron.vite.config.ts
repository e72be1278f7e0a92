import { join } from 'node:path';
import { defineConfig } from 'electron-vite';
import renderer from './renderer.vite.config.ts';

/** Absolute, because `tutti dashboard` builds from whatever folder it is called. */
const at = (path: string): string => join(import.meta.dirname, path);

export default defineConfig({
  main: {
    build: {
      outDir: at('out/main'),
      // In the bundle, because its many files would be read before the first window: a sixth of the time until the splash.
      externalizeDeps: { exclude: ['zod'] },
      rollupOptions: {
        // They build the pages, where Tutti runs from its sources.
        external: ['electron-vite', 'vite'],
        input: { electron: at('src-main/electron.ts') },
        // In one folder: the app's files are found from there (`app-files.ts`).
        output: { chunkFileNames: '[name]-[hash].js' },
      },
    },
  },
  preload: {
    build: {
      outDir: at('out/preload'),
      // A sandboxed preload can load only Electron, and only as CommonJS.
      externalizeDeps: false,
      rollupOptions: {
        input: { preload: at('src-main/preload.ts') },
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer,
});
