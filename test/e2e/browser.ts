import { inject } from 'vitest';

/** Path of the browser. */
export const chromium = inject('chromium');

/** Why tests in a browser cannot run here; null where they can. */
export const noChromium =
  chromium === null ? 'Chromium is not installed: apt-get install chromium, or npx playwright install chromium' : null;
