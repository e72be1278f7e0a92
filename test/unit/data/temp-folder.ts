import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';

/** Real data beside the repository; tests that need it say so where it does not exist. */
export const sharedData = resolve(import.meta.dirname, '../../../../shared/data');
export const hasSharedData = existsSync(sharedData);

/** A folder of its own for the running test, removed after it. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-data-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}
