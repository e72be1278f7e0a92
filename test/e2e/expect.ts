import { expect as impatient } from '@playwright/test';

/** What a page shall show comes at once on a free machine; on a busy one, where a worker alone takes seconds to start, it may take long. */
export const expect = impatient.configure({ timeout: 30_000 });
