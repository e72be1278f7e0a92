import { type PartCriterion, type PartMethod, type PartSource } from '../../../core/protocol/run/parts.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { countEpoch, formatMetric } from '../../../core/text/numbers.ts';
import { printableLine } from '../../../core/text/printable.ts';
import { type CombinedRun, type CombineRequest, combineRuns } from '../../parts/combine-runs.ts';
import type { Hub } from '../../hub/hub.ts';
import type { PartsRun } from '../../parts/choose-candidates.ts';
import { findStudy } from '../../studies/study-folder.ts';
import { StudyStore } from '../../studies/study-store.ts';
import { runsOfTrials } from '../../studies/study-ensemble.ts';
import { orUsageError, UsageError } from '../errors.ts';
import { untilInterrupted } from '../signals.ts';
import { withHub } from '../open-hub.ts';
import { type Look, lookOf, plainLook } from '../look.ts';
import { renderTable } from '../table.ts';

/** Options of `tutti ensemble`, as the command line gives them. */
export interface EnsembleArguments {
  method: PartMethod;
  name: string;
  set?: string;
  rank?: string;
  fromEpoch?: string;
  rounds: string;
  tolerance: string;
  samples: string;
  deviations: string;
  json?: boolean;
  fromStudy?: string;
}

/** `tutti ensemble <run...>`. @returns the exit code */
export function ensemble(names: readonly string[], options: EnsembleArguments): Promise<number> {
  const request = requestOf(names, options);
  return withHub(async (hub) => {
    const runs = await orUsageError(runsOf(hub, names, options.fromStudy));
    return untilInterrupted(async (signal) => {
      const made = await combineRuns(runs, { ...request, signal });
      hub.index.upsert(made.record, made.folder);
      for (const message of made.combined.warnings) console.error(`warning: ${message}`);
      const lines = options.json ? [toJson(outputOf(made))] : describeCombined(made, lookOf(process.stdout));
      process.stdout.write(`${lines.join('\n')}\n`);
    });
  });
}

/** The runs that members are chosen from. @throws Error if there are none of these names */
async function runsOf(hub: Hub, names: readonly string[], fromStudy: string | undefined): Promise<PartsRun[]> {
  if ((names.length === 0) === (fromStudy === undefined)) {
    throw new UsageError('Name the runs to choose from, tutti ensemble <runs...>, or a study by --from-study.');
  }
  if (fromStudy !== undefined) return runsOfTrials(await StudyStore.open((await findStudy(fromStudy)).folder), null);
  const folders = new Set<string>();
  for (const name of names) folders.add((await hub.find(name)).folder);
  return Promise.all([...folders].map(async (folder) => ({ folder, record: await hub.record(folder) })));
}

/** @throws UsageError that names the wrong option */
export function requestOf(names: readonly string[], options: EnsembleArguments): CombineRequest {
  const { method, name, set, rank, fromEpoch } = options;
  if (method === 'snapshots' && names.length > 1) {
    throw new UsageError(
      `--method snapshots takes the checkpoints of one rank over time, so it needs one run, not ${names.length}.`,
    );
  }
  return {
    method,
    name,
    // Each trial of a study offers its best members.
    set: set ?? (options.fromStudy === undefined ? undefined : 'ensemble-best'),
    rank: rank === undefined ? undefined : wholeNumberOf('--rank', rank, 0),
    fromEpoch: fromEpoch === undefined ? undefined : wholeNumberOf('--from-epoch', fromEpoch, 1) - 1,
    rounds: wholeNumberOf('--rounds', options.rounds, 1),
    tolerance: numberOf('--tolerance', options.tolerance, { least: 0, isWhole: false }),
    samples: wholeNumberOf('--samples', options.samples, 1),
    deviations: wholeNumberOf('--deviations', options.deviations, 2),
  };
}

function wholeNumberOf(option: string, text: string, least: number): number {
  return numberOf(option, text, { least, isWhole: true });
}

function numberOf(option: string, text: string, { least, isWhole }: { least: number; isWhole: boolean }): number {
  const value = text.trim() === '' ? NaN : Number(text);
  if (Number.isFinite(value) && value >= least && (!isWhole || Number.isInteger(value))) return value;
  throw new UsageError(`${option} "${text}": it must be a ${isWhole ? 'whole ' : ''}number of at least ${least}.`);
}

const lossNames: Record<PartCriterion, string> = { nll: 'NLL', pinball: 'pinball loss' };

/** What `--json` prints. */
export function outputOf({ record, folder, candidates, combined }: CombinedRun) {
  const method = record.parts?.method;
  const { members, criterion, path, losses, evaluated, warnings } = combined;
  return { id: record.id, folder, method, candidates, members, criterion, path, losses, evaluated, warnings };
}

/** The members, how they were chosen, and the loss before and after. */
export function describeCombined(made: CombinedRun, look: Look = plainLook): string[] {
  const { record, folder, candidates, combined } = made;
  const { criterion, evaluated } = combined;
  const { ensemble: figures, split } = evaluated;
  return [
    `${verbOf(made)} from ${count(candidates.length, 'checkpoint')}.`,
    '',
    ...describePath(made, look),
    describeLosses(combined),
    ...(criterion in figures ? [`${split} ${lossNames[criterion]} ${formatMetric(figures[criterion])}.`] : []),
    '',
    `Wrote the run ${record.id}: ${folder}`,
  ];
}

function verbOf({ record, combined: { members } }: CombinedRun): string {
  const method = record.parts?.method;
  const number = count(members.length, 'member');
  if (method === 'swag' || method === 'mc-dropout') return `Drew ${number}`;
  if (method === 'unroll') return `Unrolled ${number}`;
  return `Chose ${number}${members[0].length > 1 ? ` (the mean of ${members[0].length} weights)` : ''}`;
}

function describePath({ candidates, combined }: CombinedRun, look: Look): string[] {
  const { members, criterion, path, losses } = combined;
  const loss = lossNames[criterion];
  const columns = [
    { title: 'run' },
    { title: 'rank', right: true },
    { title: 'checkpoint' },
    { title: 'epoch', right: true },
    { title: `${loss} alone`, right: true },
    ...(path.length === 0 ? [] : [{ title: `${loss} with it`, right: true }]),
  ];
  const chosen = path.length > 0 ? path : [...new Set(members.flat())].map((candidate) => ({ candidate, loss: NaN }));
  const rows = chosen.map(({ candidate, loss: after }) => [
    ...describeSource(candidates[candidate]),
    formatMetric(losses.candidates[candidate]),
    ...(path.length === 0 ? [] : [formatMetric(after)]),
  ]);
  return [...renderTable(columns, rows, look), ''];
}

function describeSource({ run, rank, checkpoint, epoch }: PartSource): string[] {
  return [printableLine(run), String(rank), checkpoint, String(countEpoch(epoch))];
}

function describeLosses({ criterion, losses: { candidates, all, chosen } }: CombinedRun['combined']): string {
  const best = formatMetric(Math.min(...candidates));
  return (
    `validation ${lossNames[criterion]} ${formatMetric(chosen)}; before: ${best} of the best checkpoint alone, ` +
    `${formatMetric(all)} of all together.`
  );
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
