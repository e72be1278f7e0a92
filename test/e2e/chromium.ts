import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium } from '@playwright/test';

const run = promisify(execFile);

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
export const chromiumFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];
const installTimeoutMs = 300_000;

/** The system's Chromium, else Debian's package where it may be installed, else Playwright's own; null without any. */
export async function findChromium(): Promise<string | null> {
  const installed = findOnPath(names);
  if (installed !== null) return installed;
  if (process.getuid?.() === 0 && findOnPath(['apt-get']) !== null) {
    await installFromDebian();
    const added = findOnPath(names);
    if (added !== null) return added;
  }
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

async function installFromDebian(): Promise<void> {
  try {
    await run('apt-get', ['update'], { timeout: installTimeoutMs });
    await run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], { timeout: installTimeoutMs });
  } catch (error) {
    console.warn('Chromium could not be installed by apt-get:', error instanceof Error ? error.message : error);
  }
}
