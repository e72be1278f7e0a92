import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { notes } from './notes.ts';

/**
 * `npm run docs:benchmarks`: writes docs/benchmarks.md from the newest results of each suite in bench/results/, with
 * bench/notes.ts. The section of a suite without results stays as it is.
 */

const resultsFolder = join(import.meta.dirname, 'results');
const page = join(import.meta.dirname, '..', 'docs', 'benchmarks.md');

const figureSchema = z.object({
  suite: z.string(),
  name: z.string(),
  // JSON has null for a value that was not a number.
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

\`npm run bench -- <suite>\` keeps results in \`bench/results/\`; \`npm run docs:benchmarks\` writes this page from the newest of each suite and from
\`bench/notes.ts\`. Figures depend on the machine and its other load. Ratios to a peer are medians of turns within the same minutes. A target
stands in brackets after its value.

## In short

On two CPU cores, against PyTorch 2.15 with one thread per process. The second value of a training step is with OpenBLAS.

| work                                                        | Tutti's time over PyTorch's |
| ----------------------------------------------------------- | --------------------------- |
| training step of an MLP 3072-512-512-10                     | 0.7; 0.5                    |
| training step of a small CNN                                | 0.6 to 0.9; 0.6             |
| training step of ResNet-18 for CIFAR                        | 1.6; 1.0                    |
| training step of two networks 1-50-1                        | 0.4 to 0.5; 0.4             |
| training step of an LSTM with 16 and with 128 units         | 1.0 and 1.5; 0.9 and 1.1    |
| training step of a GRU with 16 units, bidirectional or not  | 0.2 to 0.3; 0.2             |
| the first example with 2 members, from command to plots     | 0.6                         |
| two small CNNs trained at the same time, from command to end | 0.6                         |
| all-reduce of 40 MB between 2 processes, against gloo       | 0.5                         |
| all-gather of 8 KB between 2 and between 4 processes        | 0.03; 0.03                  |
`;

/** The newest result of each suite, by suite. */
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
  const ofSuite = figures.filter((figure) => figure.suite === suite);
  const hasTargets = ofSuite.some(({ target }) => target !== null);
  const header = ['figure', hasTargets ? 'value (target)' : 'value'];
  if (ofSuite.some(({ peer }) => peer !== undefined)) header.push('peer');
  const bySubject = Map.groupBy(ofSuite, ({ name }) => splitName(name).subject);
  const cells = [...bySubject].map(([subject, same]) => [subject, describeValues(same), describePeers(same)]);
  const rows = [header, header.map(() => '---'), ...cells.map((row) => row.slice(0, header.length))];
  const table = rows.map((row) => `| ${row.join(' | ')} |`);
  const remarks = notes[suite] ?? [];
  return [`## ${suite}`, '', about, '', ...table, '', ...remarks.flatMap((remark) => [remark, ''])];
}

/** One row of the page has all figures of a subject: what stands before the last colon of their names, if there is one. */
function splitName(name: string): { subject: string; quantity: string } {
  const colon = name.lastIndexOf(': ');
  return colon < 0
    ? { subject: name, quantity: '' }
    : { subject: name.slice(0, colon), quantity: name.slice(colon + 2) };
}

function describeValues(figures: readonly Measured[]): string {
  const quantities = ['', ...figures.map(({ name }) => splitName(name).quantity)];
  const values = figures.map((figure, i) => {
    const quantity = quantities[i + 1];
    return `${quantity === quantities[i] ? '' : `${quantity}: `}${describeValue(figure)}`;
  });
  return values.join('; ');
}

function describeValue({ value, unit, better, target, met }: Measured): string {
  if (target === null) return `${format(value)} ${unit}`;
  const bound = `${better === 'lower' ? '≤' : '≥'} ${target}`;
  return `${format(value)} ${unit} (${bound}${met === false ? `: ${missed(value, target)}` : ''})`;
}

function describePeers(figures: readonly Measured[]): string {
  const peers = figures.flatMap(({ peer }) => (peer === undefined ? [] : [peer]));
  const byName = Map.groupBy(peers, ({ name }) => name);
  return [...byName].map(([name, same]) => `${name}: ${same.map(({ value }) => format(value)).join('; ')}`).join('; ');
}

/** The relative distance to a missed target. */
function missed(value: number | null, target: number): string {
  if (value === null || target === 0) return '**missed**';
  return `**missed** by ${format(Math.abs(value / target - 1) * 100)} %`;
}

function format(value: number | null): string {
  return value === null ? '-' : value.toLocaleString('en-US', { maximumSignificantDigits: 3, useGrouping: false });
}

/** The sections of the present page, by suite: what was measured on another machine stays until it is measured anew. */
async function readSections(): Promise<Map<string, string>> {
  const [, ...sections] = (await readFile(page, 'utf8')).split(/^## /m);
  const ofSuites = sections.filter((section) => !section.startsWith('In short'));
  return new Map(ofSuites.map((section) => [section.slice(0, section.indexOf('\n')), `## ${section}`]));
}

const sections = await readSections();
for (const [suite, result] of await readResults()) sections.set(suite, describeSuite(suite, result).join('\n'));
const inOrder = [...sections].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, section]) => section.trimEnd());
await writeFile(page, `${[introduction.trimEnd(), ...inOrder].join('\n\n')}\n`);
