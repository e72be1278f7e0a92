import type { TestProject } from 'vitest/node';
import { buildIfStale } from '../../src-main/built/build.ts';
import { findChromium } from './support/chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the browser, or null if there is none and its tests do not run. */
    chromium: string | null;
  }
}

/** Runs once before all browser tests: builds the page as shipped, and finds a browser for it. */
export default async function setUp(project: TestProject): Promise<void> {
  const chromium = findChromium();
  if (chromium !== null) await buildIfStale();
  project.provide('chromium', chromium);
}
