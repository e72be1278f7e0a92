import { join } from 'node:path';
import { z } from 'zod';
import {
  type AcquisitionKind,
  acquisitionKinds,
  acquisitionSchema,
  type Oracle,
  type Search,
  type SearchGoal,
} from '../../../core/discovery/search.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import { repeatedSeed } from '../../../core/protocol/run/sweep/sweep.ts';
import { createRunId } from '../../hub/plan-run.ts';
import { findSearches, newSearch, type SearchChoices, SearchWork } from '../../discovery/open-search.ts';
import { readAnswers } from '../../discovery/person.ts';
import { runFlagsOf } from '../../runs/configuration/run-flags.ts';
import { describeProject } from '../../runs/configuration/project.ts';
import { secureHome } from '../../store/private-home.ts';
import { parseAssignments } from '../arguments.ts';
import { consentOf, ensureAllowed, ensureTrusted } from '../consent.ts';
import { exitCodes, orUsageError, toUsageError, UsageError } from '../errors.ts';
import { type ArmHits, SearchReport } from './discover-report.ts';

export interface DiscoverOptions {
  acquisition: string;
  batch: string;
  kappa: number;
  xi: number;
  shortlist: number;
  distance: string;
  beside?: string;
  start: number;
  stratified?: boolean;
  perRound: number;
  rounds: number;
  hitClass?: number;
  minimize?: boolean;
  threshold?: number;
  oracle: 'hidden' | 'person';
  command?: string;
  classWeights?: boolean;
  warm?: boolean;
  seed: number;
  repeat?: number;
  set: string[];
  name?: string;
  out?: string;
  resume?: string;
  answers?: string;
  currentSource?: boolean;
  trust?: boolean;
  json?: boolean;
  quiet?: boolean;
}

/** `tutti discover <project>`, or `tutti discover --resume <search>`. @returns the exit code */
export async function discover(projectFolder: string | undefined, options: DiscoverOptions): Promise<number> {
  await secureHome();
  const folders = await orUsageError(foldersOf(projectFolder, options));
  const report = new SearchReport(process.stdout, options);
  const results: { seed: number; arms: ArmHits[] }[] = [];
  let work: SearchWork | null = null;
  let isInterrupted = false;
  const interrupt = (): void => {
    isInterrupted = true;
    work?.abort();
  };
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  try {
    for (const folder of folders) {
      work = workOn(folder, report, options);
      if (isInterrupted) work.abort();
      const found = await work.run();
      if (found === null) {
        report.stopped(folder, commonName(folders));
        return exitCodes.interrupted;
      }
      const { end, search, progress } = found;
      results.push({ seed: search.seed, arms: report.end(end, progress, folder) });
    }
    if (folders.length > 1) report.seeds(results);
    return exitCodes.finished;
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}

/** The work on one search to its end. A search that has ended already changes nothing. */
function workOn(folder: string, report: SearchReport, { currentSource = false, answers }: DiscoverOptions): SearchWork {
  return new SearchWork(folder, {
    tell: (update) => report.take(update),
    currentSource,
    begin: async (session, search, pool) => {
      report.begin(search, pool, folder);
      if (answers !== undefined)
        report.answered(await session.addLabels(await orUsageError(readAnswers(answers, pool))));
    },
  });
}

/** What `--resume` takes to continue searches that were begun together. */
function commonName(folders: readonly string[]): string {
  const [first] = folders;
  return folders.length === 1 ? first : first.replace(/[/-]seed-0$/, '');
}

/** The folders of the searches to continue, or of new ones: several differ in their seeds. */
async function foldersOf(projectFolder: string | undefined, options: DiscoverOptions): Promise<string[]> {
  const { resume, answers, trust = false, set, out, repeat, seed } = options;
  if ((resume === undefined) === (projectFolder === undefined)) {
    throw new UsageError(
      'Name a project to begin a search, tutti discover <project>, or one to continue: tutti ' +
        'discover --resume <search>.',
    );
  }
  if (resume !== undefined) {
    if (repeat !== undefined)
      throw new UsageError(
        '--repeat belongs to new searches; --resume continues all that were begun together: omit it.',
      );
    return findSearches(resume);
  }
  if (projectFolder === undefined) throw new UsageError('Name a project.');
  if (answers !== undefined)
    throw new UsageError(
      '--answers belongs to a search that waits for them: tutti discover --resume <search> --answers <file>.',
    );
  const consent = consentOf(trust);
  await ensureTrusted(projectFolder, consent);
  const project = await describeProject(projectFolder);
  await ensureAllowed(projectFolder, project.permissions, consent);
  const overrides = [parseAssignments(set, runFlagsOf(project))];
  const choices = choicesOf(project, options);
  if (repeat === undefined) return [await newSearch(projectFolder, project, choices, { overrides, out })];
  if (choices.oracle.kind === 'person')
    throw new UsageError(
      '--repeat searches again from the start, and a person would label the same candidates again: omit it.',
    );
  const id = createRunId(projectFolder);
  const folders: string[] = [];
  // All are written before the first begins, so that --resume knows how many there are.
  for (let index = 0; index < repeat; index++) {
    const own = { ...choices, seed: repeatedSeed(seed, index) };
    const place = { id: `${id}-seed-${index}`, out: out === undefined ? undefined : join(out, `seed-${index}`) };
    folders.push(await newSearch(projectFolder, project, own, { overrides, ...place }));
  }
  return folders;
}

function choicesOf(project: ProjectDescription, options: DiscoverOptions): SearchChoices {
  const { start, stratified = false, perRound, rounds, classWeights = false, warm = false, seed, name } = options;
  const oracle = oracleOf(options);
  return {
    name: name ?? project.name,
    goal: goalOf(project, options),
    oracle,
    acquisition: acquisitionOf(options),
    beside: besideOf(options.beside, oracle),
    start,
    isStartStratified: stratified,
    perRound,
    rounds,
    hasClassWeights: classWeights,
    isWarm: warm,
    seed,
  };
}

function acquisitionOf({
  acquisition: kind,
  batch,
  kappa,
  xi,
  shortlist,
  distance,
}: DiscoverOptions): Search['acquisition'] {
  const parsed = acquisitionSchema.safeParse({ kind, batch, kappa, xi, shortlist, distance });
  if (!parsed.success) throw toUsageError(new Error(z.prettifyError(parsed.error)));
  return parsed.data;
}

function oracleOf({ oracle, command }: DiscoverOptions): Oracle {
  if (command === undefined) return { kind: oracle };
  if (oracle === 'person') throw new UsageError('--command and --oracle person exclude each other: omit one.');
  return { kind: 'command', command };
}

function goalOf({ task }: ProjectDescription, { hitClass, minimize = false, threshold }: DiscoverOptions): SearchGoal {
  if (hitClass !== undefined && (minimize || threshold !== undefined)) {
    throw new UsageError('--hit-class looks for a class, --minimize and --threshold for values: omit one of them.');
  }
  const isOfValues =
    minimize || threshold !== undefined || task === 'regression' || task === 'heteroscedastic-regression';
  if (hitClass === undefined && isOfValues)
    return { kind: minimize ? 'minimize' : 'maximize', threshold: threshold ?? null };
  if (hitClass === undefined && task === 'classification') {
    throw new UsageError(
      'A classification has several classes: name the one to look for by its number, --hit-class 2.',
    );
  }
  return { kind: 'class', label: hitClass ?? 1 };
}

/** A person labels three times as much if two other arms run beside. */
function besideOf(text: string | undefined, oracle: Oracle): AcquisitionKind[] {
  const names = (text ?? (oracle.kind === 'person' ? 'none' : 'random,greedy')).split(',').map((own) => own.trim());
  if (names.length === 1 && names[0] === 'none') return [];
  return names.map((own) => {
    const known = acquisitionKinds.find((kind) => kind === own);
    if (known !== undefined) return known;
    throw new UsageError(
      `--beside "${own}": it must be none, or some of ${acquisitionKinds.join(', ')}, separated by commas.`,
    );
  });
}
