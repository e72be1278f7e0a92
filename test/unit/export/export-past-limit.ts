import { execFileSync } from 'node:child_process';
import { exportRun } from '../../../src-main/export/export-run.ts';

/** Exports a run into a ZIP under a file size limit, and prints the error. */
const [, , folder, to] = process.argv;
execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=100000']);
await exportRun(folder, { to, zip: true }).catch((error: unknown) => console.log(String(error)));
