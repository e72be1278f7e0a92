import { z } from 'zod';
import type { Sandbox } from './sandbox.ts';

const reportFile = '.tests.json';

const fileReportSchema = z.object({
  name: z.string(),
  status: z.string(),
  startTime: z.number(),
  endTime: z.number(),
  message: z.string(),
  assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
});
type FileReport = z.infer<typeof fileReportSchema>;
const reportSchema = z.object({ testResults: z.array(fileReportSchema) });

export interface TestRun {
  files: { file: string; milliseconds: number }[];
  isTimedOut: boolean;
  hasFailed: boolean;
  /** The first test that failed, or null. */
  failure: { file: string; test: string } | null;
  output: string;
}

export interface Limits {
  /** For one test. */
  testMs: number;
  /** For all tests together. */
  allMs: number;
}

/** Runs test files one after the other. `stopsEarly` ends the run at the first failure. */
export async function runTests(
  sandbox: Sandbox,
  tests: readonly string[],
  limits: Limits,
  stopsEarly: boolean,
): Promise<TestRun> {
  const args = ['node_modules/vitest/vitest.mjs', 'run', ...tests];
  const options = ['--maxWorkers=1', '--no-cache', '--reporter=json', `--outputFile=${reportFile}`];
  await sandbox.write(reportFile, '{"testResults":[]}');
  const times = [`--testTimeout=${limits.testMs}`, `--hookTimeout=${limits.testMs}`];
  const bail = stopsEarly ? ['--bail=1'] : [];
  const { code, output } = await sandbox.runNode([...args, ...options, ...times, ...bail], limits.allMs);
  const report = reportSchema.parse(JSON.parse((await sandbox.read(reportFile)).toString()));
  const files = report.testResults.map(({ name, ...result }) => ({
    ...result,
    file: name.slice(sandbox.folder.length + 1),
  }));
  return {
    files: files.map(({ file, startTime, endTime }) => ({
      file,
      milliseconds: Math.max(0, Math.round(endTime - startTime)),
    })),
    isTimedOut: code === null,
    hasFailed: code !== 0 && code !== null,
    failure: findFailure(files),
    output,
  };
}

/** Files that did not run because of an earlier failure have neither failed tests nor a message. */
function findFailure(files: readonly (Omit<FileReport, 'name'> & { file: string })[]): TestRun['failure'] {
  for (const { file, assertionResults, message } of files) {
    const test = assertionResults.find(({ status }) => status === 'failed')?.fullName ?? message.split('\n')[0];
    if (test !== '') return { file, test };
  }
  return null;
}
