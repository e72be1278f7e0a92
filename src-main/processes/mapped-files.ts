import { existsSync } from 'node:fs';
import { appFile } from './app-files.ts';

/** Why workers cannot map files into their memory on this machine; null where they can. */
export function whyNotMapped(platform: NodeJS.Platform = process.platform): string | null {
  if (platform === 'win32') return 'Data are not shared between processes on Windows yet.';
  if (existsSync(appFile('node_modules/koffi'))) return null;
  return 'Sharing data needs the package koffi, which maps files into memory and is not installed (npm ci --include=optional does).';
}
