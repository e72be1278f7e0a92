/** Fails if documentation names a path or a heading that does not exist, with file, line and remedy. */
import { fileURLToPath } from 'node:url';
import { findBrokenReferences } from './doc-references.ts';

const broken = findBrokenReferences(fileURLToPath(new URL('..', import.meta.url)));
for (const { file, line, message } of broken) console.error(`${file}:${line}: ${message}`);
if (broken.length > 0) process.exitCode = 1;
