import type { Page } from '@playwright/test';

/** Drops a file or a folder on a window as a file manager does. */
export async function dropPath(page: Page, path: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await session.send('Input.dispatchDragEvent', { type, x: 600, y: 400, data });
  }
  await session.detach();
}
