import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from '@playwright/test';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
export const chromiumFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** The system's Chromium, or else Playwright's, or null. */
export function findChromium(): string | null {
  const installed = findOnPath(names);
  if (installed !== null) return installed;
  const own = chromium.executablePath();
  return existsSync(own) ? own : null;
}

export function launchChromium(executablePath: string, extraFlags: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath, args: [...chromiumFlags, ...extraFlags] });
}

function findOnPath(candidates: readonly string[]): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return candidates.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync) ?? null;
}
