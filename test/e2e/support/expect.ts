import { expect as hasty } from '@playwright/test';

/** How long a test waits for a page. On a busy machine, starting a worker alone takes seconds. */
export const patienceMs = 90_000;

/** Playwright's default is 5 s. */
export const expect = hasty.configure({ timeout: patienceMs });
