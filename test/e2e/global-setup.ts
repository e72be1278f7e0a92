import type { TestProject } from 'vitest/node';
import { buildIfStale } from '../../src-main/start/build.ts';
import { findChromium } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the browser; null where there is none, so that the tests in it do not run. */
    chromium: string | null;
  }
}

/** Once before all tests in the browser: builds the page as it is shipped, and finds a browser for it. */
export default async function setUp(project: TestProject): Promise<void> {
  const chromium = findChromium();
  if (chromium !== null) await buildIfStale();
  project.provide('chromium', chromium);
}
