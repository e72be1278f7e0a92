import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { notes } from './notes.ts';

/** `npm run docs:benchmarks`: writes docs/benchmarks.md from the newest results of each suite in bench/results/, with bench/notes.ts. */

const resultsFolder = join(import.meta.dirname, 'results');
const page = join(import.meta.dirname, '..', 'docs', 'benchmarks.md');

const figureSchema = z.object({
  suite: z.string(),
  name: z.string(),
  // JSON has null where the value was not a number.
  value: z.number().nullable(),
  unit: z.string(),
  better: z.enum(['lower', 'higher']),
  target: z.number().nullable(),
  met: z.boolean().nullable(),
  peer: z.object({ name: z.string(), value: z.number() }).optional(),
});
const resultSchema = z.object({
  date: z.string(),
  machine: z.object({
    cpu: z.string(),
    cores: z.number(),
    memoryGiB: z.number(),
    system: z.string(),
    node: z.string(),
  }),
  figures: z.array(figureSchema),
});
type Result = z.output<typeof resultSchema>;
type Measured = z.output<typeof figureSchema>;

const introduction = `# Benchmarks

Written by \`npm run docs:benchmarks\` from the newest results of each suite that \`npm run bench -- <suite>\` kept in \`bench/results/\`, with the
notes of \`bench/notes.ts\`. Figures depend on the machine and on what else it does: those beside a target are ratios to a peer wherever there
is one, measured in turn in the same minutes, and medians.
`;

/** The newest result that holds each suite, by suite. */
async function readResults(): Promise<Map<string, Result>> {
  const newest = new Map<string, Result>();
  for (const name of (await readdir(resultsFolder)).filter((file) => file.endsWith('.json')).sort()) {
    const result = resultSchema.parse(JSON.parse(await readFile(join(resultsFolder, name), 'utf8')));
    for (const suite of new Set(result.figures.map((figure) => figure.suite))) newest.set(suite, result);
  }
  return newest;
}

function describeSuite(suite: string, { date, machine, figures }: Result): string[] {
  const { cpu, cores, memoryGiB, system, node } = machine;
  const about = `Measured ${date.slice(0, 10)} on ${cpu}, ${cores} cores, ${memoryGiB} GiB; ${system}; Node ${node}.`;
  const header = ['figure', 'value', 'unit', 'target', 'met', 'peer'];
  const rows = [header, header.map(() => '---'), ...figures.filter((figure) => figure.suite === suite).map(cells)];
  const table = rows.map((row) => `| ${row.join(' | ')} |`);
  const remarks = notes[suite] ?? [];
  return [`## ${suite}`, '', about, '', ...table, '', ...remarks.flatMap((remark) => [remark, ''])];
}

function cells({ name, value, unit, better, target, met, peer }: Measured): string[] {
  const bound = target === null ? '' : `${better === 'lower' ? 'at most' : 'at least'} ${target}`;
  const verdict = met === null ? '' : met ? 'yes' : missed(value, target);
  return [name, format(value), unit, bound, verdict, peer === undefined ? '' : `${peer.name}: ${format(peer.value)}`];
}

/** By how much a target was missed. */
function missed(value: number | null, target: number | null): string {
  if (value === null || target === null || target === 0) return '**no**';
  return `**no**, by ${format(Math.abs(value / target - 1) * 100)} %`;
}

function format(value: number | null): string {
  return value === null ? '-' : value.toLocaleString('en-US', { maximumSignificantDigits: 3, useGrouping: false });
}

const results = await readResults();
const sections = [...results].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap((entry) => describeSuite(...entry));
await writeFile(page, `${[introduction, ...sections].join('\n').trimEnd()}\n`);
