import { join } from 'node:path';
import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';

/** The page alone, which `npm run dev` rebuilds after every change. `electron.vite.config.ts` builds it with the rest. */
export default defineConfig({
  root: join(import.meta.dirname, 'src-renderer'),
  // Relative addresses, because Electron loads the page from a file.
  base: './',
  plugins: [vue()],
  build: {
    outDir: join(import.meta.dirname, 'out/renderer'),
    emptyOutDir: true,
    minify: true,
    rollupOptions: { input: join(import.meta.dirname, 'src-renderer/index.html') },
  },
});
