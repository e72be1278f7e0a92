import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findAppBrowser } from '../processes/app-files.ts';

/** A browser that was closed while it started never opens the link. */
const longestMs = 60_000;

/** A file that leads a browser to a link. */
export interface RedirectFile {
  /** Its `file:` address. */
  address: string;
  /** Removes it. Calling it twice is harmless. */
  remove: () => Promise<void>;
}

/**
 * Opens a separate window in a Chromium, if there is one and a display. Otherwise users open the printed link.
 * @param entered resolves when the link was opened
 * @returns a function that removes what still leads to the link
 */
export async function openAppWindow(link: string, entered: Promise<void>): Promise<() => Promise<void>> {
  const browser = findAppBrowser();
  if (browser === null) return () => Promise.resolve();
  const { address, remove } = await writeRedirect(link);
  const child = spawn(browser, [`--app=${address}`], { stdio: 'ignore', detached: true });
  const failed = new Promise<void>((resolve) => {
    child.on('error', (error) => {
      console.error(`${browser} did not open: ${error.message}. Open the link yourself.`);
      resolve();
    });
  });
  child.unref();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, longestMs).unref();
  });
  const removeNow = async (): Promise<void> => {
    clearTimeout(timer);
    await remove();
  };
  Promise.race([entered, failed, late])
    .then(removeNow)
    .catch((error: unknown) => console.error(error));
  return removeNow;
}

/**
 * Writes a file that only this user can read and that leads to a link. Other users see the command line of a browser,
 * so a link there would let them open it first.
 */
export async function writeRedirect(link: string): Promise<RedirectFile> {
  // mkdtemp makes a folder that only its owner may enter, whatever the umask.
  const folder = await mkdtemp(join(tmpdir(), 'tutti-open-'));
  const file = join(folder, 'open.html');
  const page = `<!doctype html><meta charset="utf-8"><title>Tutti</title><meta http-equiv="refresh" content="0;url=${link}">`;
  await writeFile(file, page, { mode: 0o600, flag: 'wx' });
  return { address: pathToFileURL(file).href, remove: () => rm(folder, { recursive: true, force: true }) };
}
