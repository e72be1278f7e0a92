/** Writes `docs/mutation.md` from the report and the reasons beside this file. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { reasonsSchema, renderMutationDoc } from './doc.ts';
import { readReport } from './report.ts';

const report = readReport(join(import.meta.dirname, 'report.json'));
if (report === null) throw new Error('There is no test/mutation/report/report.json. Run npm run test:mutation first.');
const reasons = reasonsSchema.parse(JSON.parse(readFileSync(join(import.meta.dirname, 'survivors.json'), 'utf8')));
const page = await format(renderMutationDoc(report, reasons), { parser: 'markdown' });
writeFileSync(join(import.meta.dirname, '../../..', 'docs', 'mutation.md'), page);
