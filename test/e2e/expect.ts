import { expect as hasty } from '@playwright/test';

/** How long a page may take for anything that a test waits for. On a busy machine, a worker alone takes seconds to start. */
export const patienceMs = 90_000;

/** Playwright's own gives up after 5 s. */
export const expect = hasty.configure({ timeout: patienceMs });
