import { join } from 'node:path';
import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';

/** The page of reports: one script and one style sheet, which `tutti report` writes into one HTML file with a run's data. */
export default defineConfig({
  root: join(import.meta.dirname, 'src-renderer'),
  plugins: [vue()],
  // Nothing of it runs in Node.
  define: { 'process.env.NODE_ENV': '"production"' },
  build: {
    outDir: join(import.meta.dirname, 'out/report'),
    emptyOutDir: true,
    minify: true,
    cssCodeSplit: false,
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    // A script of a file on the disk cannot be a module.
    lib: {
      entry: join(import.meta.dirname, 'src-renderer/report.ts'),
      name: 'tuttiReport',
      formats: ['iife'],
      fileName: 'report',
    },
  },
});
