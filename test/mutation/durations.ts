import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { runTests } from './run-tests.ts';
import type { Sandbox } from './sandbox.ts';
import type { Durations } from './select-tests.ts';

const durationsSchema = z.record(z.string(), z.number());

/** Limits for all tests together. */
const limits = { testMs: 180_000, allMs: 1_800_000 };

/**
 * How long each test file takes without any change. Files in `cache` are not measured again; remove it for another
 * machine.
 */
export async function measureDurations(sandbox: Sandbox, files: readonly string[], cache: string): Promise<Durations> {
  const known = readCache(cache);
  const missing = files.filter((file) => known[file] === undefined);
  if (missing.length > 0) {
    const run = await runTests(sandbox, missing, limits, false);
    for (const { file, milliseconds } of run.files) known[file] = milliseconds;
    const absent = missing.filter((file) => known[file] === undefined);
    if (absent.length > 0) throw new Error(`No result of ${absent.join(', ')}:\n${run.output}`);
    mkdirSync(path.dirname(cache), { recursive: true });
    writeFileSync(cache, JSON.stringify(known, null, 2));
  }
  return new Map(files.map((file) => [file, known[file]]));
}

function readCache(cache: string): Record<string, number> {
  try {
    return durationsSchema.parse(JSON.parse(readFileSync(cache, 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
}
