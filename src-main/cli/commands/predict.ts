import { extname, resolve } from 'node:path';
import type { PredictOutput } from '../../../core/protocol/pages/json-outputs.ts';
import type { PredictTask } from '../../../core/protocol/run/checkpoint-tasks.ts';
import { type PredictReport, predictRun } from '../../predictions/predict-run.ts';
import { UsageError } from '../errors.ts';
import { untilInterrupted } from '../signals.ts';
import { ensembleFolder } from '../arguments.ts';

export interface PredictArguments {
  input: string;
  output: string;
  set?: string;
  members?: boolean;
  scores?: boolean;
  strict?: boolean;
  formulaGuard?: PredictTask['formulaGuard'];
  overwrite?: boolean;
  json?: boolean;
}

const formats: Record<string, PredictTask['format']> = {
  '.csv': 'csv',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.parquet': 'parquet',
};

/** `tutti predict <run> --input <path> --output <file>`. @returns the exit code */
export async function predict(run: string, options: PredictArguments): Promise<number> {
  const { input, output, set, formulaGuard, overwrite = false, json } = options;
  const { members: withMembers = false, scores: withScores = false, strict: isStrict = false } = options;
  const format = formats[extname(output).toLowerCase()];
  if (format === undefined) throw new UsageError(`--output ${output}: it must end in .csv, .jsonl or .parquet.`);
  const folder = await ensembleFolder(run);
  const startedMs = performance.now();
  return untilInterrupted(async (signal) => {
    const columns = { ...(formulaGuard && { formulaGuard }), withMembers, withScores, isStrict };
    const report = await predictRun({ folder, set, input, output, format, ...columns, overwrite, signal, progress });
    print(report, { output: resolve(output), seconds: (performance.now() - startedMs) / 1000, json });
  });
}

function progress(rows: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${rows.toLocaleString('en')} rows`);
}

function print(report: PredictReport, about: { output: string; seconds: number; json: boolean | undefined }): void {
  const { rows, set, warnings } = report;
  if (process.stderr.isTTY) process.stderr.write('\r');
  for (const message of warnings) console.error(`warning: ${message}`);
  const { output, seconds, json } = about;
  process.stdout.write(
    json
      ? `${JSON.stringify({ rows, set, output, warnings } satisfies PredictOutput)}\n`
      : `Predicted ${rows.toLocaleString('en')} rows with ${set} in ${seconds.toFixed(1)} s: ${output}\n`,
  );
}
