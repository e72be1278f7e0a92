/**
 * Fails if the lockfile has a package that nobody has reviewed, that may have been changed, or that is known to be
 * malicious.
 */
import { readFileSync } from 'node:fs';
import { readLockfile } from './lockfile.ts';
import { findDependencyProblems } from './rules.ts';

const root = new URL('../../', import.meta.url);
const problems = findDependencyProblems(readLockfile(root), readFileSync(new URL('.npmrc', root), 'utf8'));
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
