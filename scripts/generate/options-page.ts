/**
 * Writes docs/options.md from the schema of the run configuration. `--check` writes nothing and fails if the page is
 * outdated.
 */
import { writeOrCheck } from './generated-page.ts';
import { renderOptionsDoc } from './options-doc.ts';

const command = 'node scripts/generate/options-page.ts';
writeOrCheck('docs/options.md', renderOptionsDoc(), 'core/protocol/run/config.ts', command);
