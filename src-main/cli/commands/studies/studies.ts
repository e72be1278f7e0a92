import { tutti } from '../../../../core/text/program.ts';
import { toJson } from '../../../../core/protocol/wire/numbers.ts';
import { printableLine } from '../../../../core/text/printable.ts';
import { listStudies, viewStudy } from '../../../studies/studies.ts';
import { writeFileAtomic } from '../../../../core/node/atomic-file.ts';
import type { StudyView } from '../../../../core/protocol/pages/study-views.ts';
import { findStudy } from '../../../studies/study-folder.ts';
import { StudyStore } from '../../../studies/study-store.ts';
import { toJournal } from '../../../studies/journal.ts';
import { exitCodes, orUsageError, UsageError } from '../../errors.ts';
import { withHub } from '../../open-hub.ts';
import { lookOf } from '../../look.ts';
import { renderTable } from '../../table.ts';
import { importanceOf } from '../../../../core/protocol/pages/study-summary.ts';
import { describeAssignment, describeBest, describeImportance, describeValues } from './describe-study.ts';

const columns = [
  { title: 'id' },
  { title: 'name', least: 12 },
  { title: 'project', least: 10, dispensable: 2 },
  { title: 'status' },
  { title: 'trials', right: true },
  { title: 'best', least: 12 },
  { title: 'values', least: 12, dispensable: 1 },
];

export interface StudiesOptions {
  json?: boolean;
  /** File for an Optuna journal of the study. */
  journal?: string;
}

/** `tutti studies`: lists all studies, the newest first, or the trials of one. @returns the exit code */
export function studies(study: string | undefined, { json = false, journal }: StudiesOptions): Promise<number> {
  return withHub(async (hub) => {
    if (study !== undefined) return showStudy(study, { json, ...(journal !== undefined && { journal }) });
    if (journal !== undefined)
      throw new UsageError('--journal writes one study: name it, tutti studies <study> --journal <file>.');
    const summaries = await listStudies(hub);
    if (json) for (const summary of summaries) process.stdout.write(`${toJson(summary)}\n`);
    else if (summaries.length === 0)
      process.stdout.write(`There are no studies yet. Begin one: ${tutti} search <project>.\n`);
    else {
      const rows = summaries.map(({ id, name, project, status, trials, best, objectives }) => [
        id,
        printableLine(name),
        printableLine(project),
        status,
        `${trials.complete + trials.pruned + trials.failed}/${trials.wanted}`,
        best === null ? '-' : describeValues(objectives, best.objectives, best.standardErrors),
        best === null ? '-' : describeAssignment(best.values),
      ]);
      process.stdout.write(`${renderTable(columns, rows, lookOf(process.stdout)).join('\n')}\n`);
    }
    return exitCodes.finished;
  });
}

async function showStudy(name: string, { json = false, journal }: StudiesOptions): Promise<number> {
  const { folder } = await orUsageError(findStudy(name));
  const store = await StudyStore.open(folder);
  if (journal !== undefined) {
    await writeFileAtomic(journal, toJournal(store));
    console.error(`Wrote an Optuna journal of ${store.log.trials.length} trials to ${journal}.`);
    return exitCodes.finished;
  }
  const view = viewStudy(store);
  for (const warning of view.warnings) console.error(`warning: ${warning}`);
  const lines = json
    ? [...view.trials, { importance: importanceOf(view.study, view.trials) }].map((line) => toJson(line))
    : describeStudy(view);
  for (const line of lines) process.stdout.write(`${line}\n`);
  return exitCodes.finished;
}

const trialColumns = [
  { title: 'trial', right: true },
  { title: 'state' },
  { title: 'result', least: 12 },
  { title: 'values', least: 12 },
];

/** A study with a table of its trials. */
function describeStudy({ study, folder, summary, trials }: StudyView): string[] {
  const rows = trials.map(({ number, state, objectives, standardErrors, error, values }) => [
    String(number),
    state,
    printableLine(error ?? describeValues(study.objectives, objectives, standardErrors)),
    describeAssignment(values),
  ]);
  return [
    `${printableLine(study.name)} · ${study.id} · ${summary.status}`,
    `project: ${printableLine(study.project.name)}, ${printableLine(study.project.folder)}`,
    `folder: ${printableLine(folder)}`,
    '',
    ...(rows.length === 0 ? [] : [...renderTable(trialColumns, rows, lookOf(process.stdout)), '']),
    ...describeBest(summary, study),
    ...describeImportance(importanceOf(study, trials)),
  ];
}
