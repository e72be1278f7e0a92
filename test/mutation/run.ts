/**
 * Flips seeded operators one at a time, in copies of the working tree, and reports which of them the tests notice.
 *
 *
 * npm run test:mutation -- --seed 1 --per-area 60 --areas metrics,kernels --parallel 2
 *
 * The report is written after each mutant, and a run continues where the report of the same seed and sources ends.
 * `--again all` retries the survivors and timeouts of that report after tests were added, and `--again NAME,NAME`
 * retries the named ones. `--unit-only` skips the tests with worker processes; `--test-seconds` limits how many of the
 * nearest unit tests a mutant has to survive.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { areas, findAreas } from './areas.ts';
import { measureDurations } from './durations.ts';
import { listFiles, listSites, type Mutant, orderMutants } from './draw.ts';
import { ImportGraph } from './import-graph.ts';
import { MutantQueue } from './mutant-queue.ts';
import {
  countNoticed,
  hashSource,
  type MutantResult,
  type MutationReport,
  readReport,
  writeReport,
} from './report/report.ts';
import { Sandbox } from './sandbox.ts';
import { type Durations, reachesAny, selectTests } from './select-tests.ts';
import { tryMutant } from './try-mutant.ts';
import { Witness } from './witness.ts';

const root = join(import.meta.dirname, '..', '..');
const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    'per-area': { type: 'string', default: '60' },
    areas: { type: 'string', default: areas.map(({ name }) => name).join(',') },
    parallel: { type: 'string', default: '2' },
    report: { type: 'string', default: join(import.meta.dirname, 'report', 'report.json') },
    again: { type: 'string', default: '' },
    'unit-only': { type: 'boolean', default: false },
    'test-seconds': { type: 'string', default: '20' },
  },
});
const seed = Number(options.seed);
const testMs = Number(options['test-seconds']) * 1000;
const chosenAreas = findAreas(options.areas.split(','));
const files = listFiles(root);
const graph = new ImportGraph(root, files);

const sandboxes: Sandbox[] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    console.error(`Ended by ${signal}. The report has what was judged until now.`);
    void removeSandboxes().finally(() => process.exit(1));
  });
}
try {
  for (let index = 0; index <= Number(options.parallel); index++) sandboxes.push(await Sandbox.create(root, files));
  await tryAll();
} finally {
  await removeSandboxes();
}

async function removeSandboxes(): Promise<void> {
  for (const sandbox of sandboxes) await sandbox.remove();
}

async function tryAll(): Promise<void> {
  const lists = chosenAreas.map((area) => orderMutants(area, listSites(root, area, files), seed));
  const sources = new Set(lists.flat().map(({ site }) => site.file));
  const durations = await measureTests([...sources]);
  const [clean, ...others] = sandboxes;
  const witness = new Witness(clean);
  const wanted = Number(options['per-area']);
  const saved = readReport(options.report);
  const previous = saved?.seed === seed ? saved : null;
  const queues = lists.map((mutants) => new MutantQueue(mutants, wanted, knownResults(mutants, previous)));
  const results = (): MutantResult[] => queues.flatMap((queue) => queue.results());
  const head = headOfReport(lists, previous);
  /** Keeps the results of an earlier run until this run replaces them. */
  const save = async (isLast: boolean): Promise<void> => {
    const found = results();
    const isOutdated = ({ name, area }: MutantResult): boolean =>
      isLast ? chosenAreas.some((chosen) => chosen.name === area) : found.some((result) => result.name === name);
    const kept = (previous?.results ?? []).filter((result) => !isOutdated(result));
    const all = [...kept, ...found].sort((a, b) => (a.name < b.name ? -1 : 1));
    await writeReport(options.report, { ...head, results: all });
  };
  const work = async (sandbox: Sandbox): Promise<void> => {
    for (const queue of queues) {
      for (let mutant = queue.take(); mutant !== null; mutant = queue.take()) {
        const stages = selectTests(mutant.site.file, mutant.area, graph, durations, testMs);
        const result = await tryMutant(sandbox, mutant, stages, { durations, witness });
        queue.finish(result);
        console.log(describeResult(result));
        await save(false);
      }
    }
  };
  await Promise.all(others.map(work));
  await save(true);
  const { noticed, judged } = countNoticed(results());
  console.log(`${noticed} of ${judged} noticed (seed ${seed}).`);
}

function measureTests(sources: readonly string[]): Promise<Durations> {
  const isUnitTest = (file: string): boolean => /^test\/(?!e2e|integration).*\.test\.ts$/.test(file);
  const integration = options['unit-only'] ? [] : chosenAreas.flatMap((area) => area.integrationTests);
  const reachesSources = (file: string): boolean => isUnitTest(file) && reachesAny(file, sources, graph);
  const tests = files.filter((file) => integration.includes(file) || reachesSources(file));
  return measureDurations(sandboxes[0], tests, join(root, 'out', 'mutation', 'durations.json'));
}

/** Results of an earlier run for the same changes of unchanged files. */
function knownResults(mutants: readonly Mutant[], previous: MutationReport | null): Map<string, MutantResult> {
  const sources = new Map<string, string>();
  for (const file of new Set(mutants.map(({ site }) => site.file))) {
    sources.set(file, hashSource(readFileSync(join(root, file), 'utf8')));
  }
  const names = new Set(mutants.map(({ name }) => name));
  const known = (previous?.results ?? []).filter(
    ({ name, file, source, outcome }) =>
      names.has(name) && source === sources.get(file) && !isTriedAgain(name, outcome),
  );
  return new Map(known.map((result) => [result.name, result]));
}

function isTriedAgain(name: string, outcome: MutantResult['outcome']): boolean {
  if (options.again !== 'all') return options.again.split(',').includes(name);
  return outcome === 'survived' || outcome === 'timeout';
}

function headOfReport(lists: readonly Mutant[][], previous: MutationReport | null): Omit<MutationReport, 'results'> {
  const counts = lists.map((mutants, index) => [chosenAreas[index].name, mutants.length] as const);
  return {
    seed,
    date: new Date().toISOString().slice(0, 10),
    unitOnly: options['unit-only'],
    sites: { ...previous?.sites, ...Object.fromEntries(counts) },
  };
}

function describeResult({ outcome, seconds, name, file, line, mutated, noticedBy }: MutantResult): string {
  return `${outcome.padEnd(8)} ${seconds} s  ${name}  ${file}:${line}  ${mutated}  [${noticedBy ?? '-'}]`;
}
