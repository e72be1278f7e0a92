import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { runTests } from './run-tests.ts';
import type { Sandbox } from './sandbox.ts';

const baselineSchema = z.record(z.string(), z.object({ milliseconds: z.number(), hasPassed: z.boolean() }));
type Baseline = z.infer<typeof baselineSchema>;

const limits = { testMs: 180_000, allMs: 1_800_000 };

/**
 * How long each test file takes, and whether it fails, without any change. What `cache` knows already is not measured again; remove it
 * for another machine.
 */
export async function measureBaseline(sandbox: Sandbox, files: readonly string[], cache: string): Promise<Baseline> {
  const known = readCache(cache);
  const missing = files.filter((file) => known[file] === undefined);
  if (missing.length > 0) {
    const run = await runTests(sandbox, missing, limits, false);
    for (const { file, milliseconds, hasPassed } of run.files) known[file] = { milliseconds, hasPassed };
    const absent = missing.filter((file) => known[file] === undefined);
    if (absent.length > 0) throw new Error(`No result of ${absent.join(', ')}:\n${run.output}`);
    mkdirSync(path.dirname(cache), { recursive: true });
    writeFileSync(cache, JSON.stringify(known, null, 2));
  }
  return Object.fromEntries(files.map((file) => [file, known[file]]));
}

function readCache(cache: string): Baseline {
  try {
    return baselineSchema.parse(JSON.parse(readFileSync(cache, 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
}
