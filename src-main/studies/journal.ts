import type { ProjectDescription } from '../../core/protocol/run/project-description.ts';
import type { Objective, StudyRequest } from '../../core/protocol/studies/study.ts';
import { type JournalStudy, readJournal } from '../../core/studies/optuna/read-journal.ts';
import { writeJournal } from '../../core/studies/optuna/write-journal.ts';
import { checkAssignment, orderSpace } from '../../core/studies/space/space.ts';
import type { Trial } from '../../core/studies/trial.ts';
import { messageOf } from '../../core/text/errors.ts';
import type { Hub } from '../hub/hub.ts';
import { objectiveFor, usualMetric } from './create-study.ts';
import type { NewLine, StudyStore } from './study-store.ts';
import { createStudy } from './studies.ts';

/** The study as an Optuna journal, which `JournalFileBackend` opens. */
export function toJournal({ study, log }: Pick<StudyStore, 'study' | 'log'>): string {
  const directions = study.objectives.map(({ direction }) => direction);
  return writeJournal(study.name, directions, orderSpace(study.space), log.trials);
}

export interface JournalImport {
  projectFolder: string;
  /** The text of the journal. */
  journal: string;
  /** Which of its studies; null: the only one. */
  name: string | null;
  /** What its values are, in their order; null: the usual metric of the ensemble. */
  objectives: readonly Pick<Objective, 'metric' | 'kind'>[] | null;
}

/**
 * Creates a study with the space and the trials of an Optuna journal. Trials that run there count as failed, because
 * nobody here will end them.
 * @throws Error if the journal is damaged, has several studies, parameters that the project does not have, or other
 * objectives than those named
 */
export async function importJournal(
  hub: Hub,
  { projectFolder, journal, name, objectives }: JournalImport,
  project: ProjectDescription,
) {
  const found = chooseStudy(readJournal(journal), name);
  const request: StudyRequest = {
    projectFolder,
    name: found.name,
    trials: 1,
    space: found.parameters,
    objectives: objectivesOf(found, objectives, project),
  };
  checkTrials(found);
  return createStudy(hub, request, project, [
    ...found.trials.map((trial, work): NewLine => ({ type: 'imported', work, trial: ended(trial, work) })),
    ...found.enqueued.map((values): NewLine => ({ type: 'enqueued', values: { ...values } })),
  ]);
}

/** @throws Error that names the trial whose values or results do not fit the others' */
function checkTrials({ name, parameters, directions, trials }: JournalStudy): void {
  const space = orderSpace(parameters);
  for (const { number, state, values, objectives } of trials) {
    if (state !== 'complete') continue;
    const where = `Trial ${number} of the study "${name}" of the journal does not fit its other trials: `;
    try {
      checkAssignment(space, values);
    } catch (error) {
      throw new Error(where + messageOf(error), { cause: error });
    }
    if (objectives?.length === directions.length) continue;
    throw new Error(`${where}it has ${objectives?.length ?? 0} results for ${directions.length} objectives.`);
  }
}

/** A journal has directions only, so its metrics are named, or the usual one. */
function objectivesOf(
  { name, directions }: JournalStudy,
  named: JournalImport['objectives'],
  project: ProjectDescription,
): Objective[] {
  const given = named ?? [{ metric: usualMetric(project.task), kind: 'ensemble' as const }];
  if (given.length !== directions.length) {
    throw new Error(
      `The study "${name}" of the journal has ${directions.length} objectives, and ${given.length} ` +
        `${given.length === 1 ? 'is' : 'are'} named. Name the metric of each in the order of the journal, such as ` +
        '--objective ensemble --objective mean-member:acc.',
    );
  }
  return given.map((one, index) => {
    const objective = objectiveFor(one, project);
    if (objective.direction === directions[index]) return objective;
    throw new Error(
      `The study "${name}" of the journal is to ${directions[index]} its objective ${index + 1}, but ` +
        `${objective.metric} is to be ${objective.direction}d. Name the metric that the journal holds, such as ` +
        '--objective ensemble:acc.',
    );
  });
}

/** Numbers have no gaps here: enqueued trials are no trials yet. */
function ended(trial: Trial, number: number): Trial {
  const isOpen = trial.state === 'running' || trial.state === 'paused';
  return { ...trial, number, ...(isOpen && { state: 'failed' as const, objectives: null }) };
}

function chooseStudy(studies: readonly JournalStudy[], name: string | null): JournalStudy {
  const names = studies.map((study) => `"${study.name}"`).join(', ');
  if (studies.length === 0) throw new Error('The journal holds no study.');
  if (name === null && studies.length > 1) throw new Error(`The journal holds several studies: name one of ${names}.`);
  const found = name === null ? studies[0] : studies.find((study) => study.name === name);
  if (found !== undefined) return found;
  throw new Error(`The journal holds no study "${name}". It holds ${names}.`);
}
