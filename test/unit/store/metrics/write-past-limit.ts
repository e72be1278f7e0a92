import { execFileSync } from 'node:child_process';
import { MetricsLog } from '../../../../src-main/store/metrics/metrics-log.ts';
import { pointBatch } from '../records.ts';

/** Writes 2,000 rows past a limit on file sizes, prints the error, lifts the limit and continues. */
const setLimit = (limit: string) =>
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${limit}:unlimited`]);

const log = await MetricsLog.open(process.argv[2], { ranks: [0], onError: console.log });
log.append(0, pointBatch([[0, 0, 'loss', 0.5]]));
await log.flush();
setLimit('10000');
log.append(0, pointBatch(Array.from({ length: 1_999 }, (_, row) => [0, row + 1, 'loss', 0.125])));
await log.flush().catch((error: unknown) => console.log(String(error)));
setLimit('unlimited');
log.append(0, pointBatch([[0, 2_000, 'late', 1]]));
await log.close();
