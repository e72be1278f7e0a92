import { inject } from 'vitest';

/** Path of the browser. */
export const chromium = inject('chromium');

/** The reason why browser tests cannot run here, or null. */
export const noChromium =
  chromium === null ? 'Chromium is not installed: apt-get install chromium, or npx playwright install chromium' : null;
