import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/**
 * Writes a page of the documentation that code determines; with `--check` writes nothing, and fails if the page is
 * outdated.
 *
 * @param page path from the repository's root
 * @param source what determines the page
 * @param command what writes it
 */
export function writeOrCheck(page: string, text: string, source: string, command: string): void {
  const file = new URL(`../../${page}`, import.meta.url);
  if (!process.argv.includes('--check')) return writeFileSync(file, text);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
  console.error(`${page} does not fit ${source}. Run: ${command}`);
  process.exitCode = 1;
}
