import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { format } from 'prettier';

/**
 * `void` mutants do not count: those that cannot be parsed or compiled, and kernels that compile to the same bytes. A
 * timeout counts as noticed.
 */
const outcomes = ['noticed', 'timeout', 'survived', 'void'] as const;

const resultSchema = z.object({
  /** Area and the start of its hash: `metrics-3fa2c1d0`. */
  name: z.string(),
  area: z.string(),
  file: z.string(),
  line: z.int(),
  /** Hash of the unchanged file. */
  source: z.string(),
  /** The line before and after the change, without indentation. */
  original: z.string(),
  mutated: z.string(),
  outcome: z.enum(outcomes),
  /** Test file and test, or null. */
  noticedBy: z.string().nullable(),
  seconds: z.number(),
});

const reportSchema = z.object({
  seed: z.int(),
  date: z.string(),
  /** Whether tests with worker processes were skipped. */
  unitOnly: z.boolean(),
  /** The number of sites to draw from, by area. */
  sites: z.record(z.string(), z.int()),
  results: z.array(resultSchema),
});

export type MutantResult = z.infer<typeof resultSchema>;
export type MutationReport = z.infer<typeof reportSchema>;

export function hashSource(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** @returns null if there is no such file */
export function readReport(file: string): MutationReport | null {
  return existsSync(file) ? reportSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) : null;
}

export async function writeReport(file: string, report: MutationReport): Promise<void> {
  writeFileSync(file, await format(JSON.stringify(report), { parser: 'json', printWidth: 140 }));
}

/** How many of the judged mutants were noticed. */
export function countNoticed(results: readonly MutantResult[]): { noticed: number; judged: number } {
  const judged = results.filter(({ outcome }) => outcome !== 'void');
  return { noticed: judged.filter(({ outcome }) => outcome !== 'survived').length, judged: judged.length };
}
