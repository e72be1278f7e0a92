/** Fails if an import violates the layers, with file and line, the rule and the remedy. */
import { fileURLToPath } from 'node:url';
import { findLayerViolations } from './layers.ts';

const violations = findLayerViolations(fileURLToPath(new URL('..', import.meta.url)));
for (const { file, line, message } of violations) console.error(`${file}:${line}: ${message}`);
if (violations.length > 0) process.exitCode = 1;
