import { existsSync } from 'node:fs';
import { whyNotMapped } from '../../src-main/processes/app-files.ts';

/** Reasons why tests cannot run here, or null. */

const unless = (isPossible: boolean, reason: string): string | null => (isPossible ? null : reason);

export const notWindows = unless(process.platform !== 'win32', 'Windows has no such signal');
export const notLinux = unless(process.platform === 'linux', 'this system is not Linux');
export const noMemoryFolder = unless(existsSync('/dev/shm'), 'this system has no /dev/shm');
export const noFullDevice = unless(existsSync('/dev/full'), 'this system has no /dev/full');
export const noPermissions = unless(
  process.platform !== 'win32' && process.getuid?.() !== 0,
  'root may write everywhere, and Windows has other permissions',
);
export const notRoot = unless(process.getuid?.() === 0, 'only root can give files to another user');
export const notMapped = notLinux ?? noMemoryFolder ?? whyNotMapped();

/** The suffix of a test title, with the reason why the test does not run here. */
export const notRun = (reason: string | null): string => (reason === null ? '' : ` (not run: ${reason})`);
