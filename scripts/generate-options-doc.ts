/** Writes docs/options.md from the schema of the run configuration. `--check` writes nothing and fails if the page is outdated. */
import { readFileSync, writeFileSync } from 'node:fs';
import { renderOptionsDoc } from './options-doc.ts';

const file = new URL('../docs/options.md', import.meta.url);
const current = renderOptionsDoc();

if (!process.argv.includes('--check')) {
  writeFileSync(file, current);
} else if (readIfThere() !== current) {
  console.error('docs/options.md does not fit core/protocol/run/config.ts. Run: node scripts/generate-options-doc.ts');
  process.exitCode = 1;
}

function readIfThere(): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
