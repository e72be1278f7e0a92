import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Figure, formatTable, type Suite } from './figures.ts';
import { describeMachine } from './machine.ts';

/** `npm run bench -- <suites...> [--json]`: measures, prints the figures and saves them in `bench/results/`. */

const suitesFolder = join(import.meta.dirname, 'suites');
const resultsFolder = join(import.meta.dirname, 'results');

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options: { json: { type: 'boolean' } }, allowPositionals: true });
  const suites = await loadSuites(positionals);
  const date = new Date().toISOString();
  const figures: Figure[] = [];
  for (const suite of suites) {
    const measured = await suite.run((message) => process.stderr.write(`${suite.name}: ${message}\n`));
    if (values.json) for (const figure of measured) console.log(JSON.stringify(figure));
    figures.push(...measured);
  }
  if (!values.json) console.log(formatTable(figures));
  await keep(date, suites, figures);
}

async function loadSuites(names: readonly string[]): Promise<Suite[]> {
  const files = await readdir(suitesFolder);
  const existing = files.filter((file) => file.endsWith('.ts')).map((file) => file.slice(0, -'.ts'.length));
  const unknown = names.filter((name) => !existing.includes(name));
  if (names.length === 0 || unknown.length > 0) {
    const complaint = unknown.length > 0 ? `There is no suite ${unknown.join(', ')}.` : 'Name the suites to run.';
    throw new RangeError(`${complaint} Suites: ${existing.sort().join(', ')}.`);
  }
  return await Promise.all(names.map(loadSuite));
}

async function loadSuite(name: string): Promise<Suite> {
  const path = join(suitesFolder, `${name}.ts`);
  const module: unknown = await import(path);
  if (!isSuiteModule(module)) throw new TypeError(`${path} does not export a suite: { name, run }.`);
  return module.suite;
}

function isSuiteModule(module: unknown): module is { suite: Suite } {
  return typeof module === 'object' && module !== null && 'suite' in module;
}

async function keep(date: string, suites: readonly Suite[], figures: readonly Figure[]): Promise<void> {
  await mkdir(resultsFolder, { recursive: true });
  const name = `${date.replaceAll(':', '')}-${suites.map((suite) => suite.name).join('-')}.json`;
  const path = join(resultsFolder, name);
  await writeFile(path, `${JSON.stringify({ date, machine: describeMachine(), figures }, null, 2)}\n`);
  process.stderr.write(`Kept in ${path}\n`);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof RangeError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
