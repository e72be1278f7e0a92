/** Writes docs/licences.md from the lockfile. `--check` writes nothing and fails if the page is outdated. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { renderLicences } from './licences-page.ts';
import { readLockfile } from './lockfile.ts';

const root = new URL('../../', import.meta.url);
const page = new URL('docs/licences.md', root);
const current = renderLicences(readLockfile(root));

if (!process.argv.includes('--check')) {
  writeFileSync(page, current);
} else if (!existsSync(page) || readFileSync(page, 'utf8') !== current) {
  console.error('docs/licences.md does not fit package-lock.json. Run: node scripts/dependencies/write-licences.ts');
  process.exitCode = 1;
}
