import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from '@playwright/test';
import vue from '@vitejs/plugin-vue';
import { build, preview } from 'vite';

const root = import.meta.dirname;
const present = join(root, '..', '..');
const browserOptions = {
  executablePath: '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
  ],
};

/** A real browser without a GPU. */
export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch(browserOptions);
}

/**
 * Builds the page of the series chart and serves it while `use` runs. `checkout` is a working tree whose `src-renderer`
 * the page shows.
 */
export async function withBuiltPage<T>(use: (url: string) => Promise<T>, checkout: string = present): Promise<T> {
  const outDir = await mkdtemp(join(tmpdir(), 'tutti-bench-'));
  try {
    const plugins = [vue(), rendererOf(checkout)];
    const shared = { root, resolve: { dedupe: ['vue'] }, logLevel: 'warn' as const };
    await build({ ...shared, plugins, build: { outDir, emptyOutDir: true } });
    const server = await preview({ ...shared, build: { outDir }, preview: { host: '127.0.0.1', port: 0 } });
    try {
      const url = server.resolvedUrls?.local.at(0);
      if (url === undefined) throw new Error('The preview server of Vite listens on no local address.');
      return await use(url);
    } finally {
      await server.close();
    }
  } finally {
    await rm(outDir, { recursive: true, force: true });
  }
}

/** Takes the dashboard's files from another working tree, so that two of its states are measured by the same page. */
function rendererOf(checkout: string): { name: string; enforce: 'pre'; resolveId: (source: string) => string | null } {
  const prefix = '../../src-renderer/';
  return {
    name: 'renderer-of-checkout',
    enforce: 'pre',
    resolveId: (source) =>
      source.startsWith(prefix) ? join(checkout, 'src-renderer', source.slice(prefix.length)) : null,
  };
}
