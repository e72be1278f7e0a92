import { defineConfig } from 'electron-vite';
import renderer from './renderer.vite.config.ts';

export default defineConfig({
  main: {
    build: {
      outDir: 'out/main',
      // In the bundle, because its many files would be read before the first window: a sixth of the time until the splash.
      externalizeDeps: { exclude: ['zod'] },
      rollupOptions: {
        // They build the pages, where Tutti runs from its sources.
        external: ['electron-vite', 'vite'],
        input: { electron: 'src-main/electron.ts' },
        // In one folder: the app's files are found from there (`app-files.ts`).
        output: { chunkFileNames: '[name]-[hash].js' },
      },
    },
  },
  preload: {
    build: {
      outDir: 'out/preload',
      // A sandboxed preload can load only Electron, and only as CommonJS.
      externalizeDeps: false,
      rollupOptions: {
        input: { preload: 'src-main/preload.ts' },
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer,
});
