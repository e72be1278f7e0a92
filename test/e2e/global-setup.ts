import type { TestProject } from 'vitest/node';
import { buildIfStale } from '../../src-main/start/build.ts';
import { findChromium } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the browser; null where there is none, and the tests in it are left out. */
    chromium: string | null;
  }
}

/** Once before all tests in the browser: the page as it is shipped, and a browser for it. */
export default async function setUp(project: TestProject): Promise<void> {
  const chromium = await findChromium();
  if (chromium === null && process.env.CI === 'true') {
    throw new Error(
      'No Chromium was found or could be installed, and in CI the dashboard is never left untested. Install chromium.',
    );
  }
  if (chromium !== null) await buildIfStale();
  project.provide('chromium', chromium);
}
