import { bestSoFar, metricsOf, objectiveOf, scoresOf } from '../../studies/results.ts';
import type { Study } from '../../studies/study.ts';
import type { LoggedTrial, StudyLog } from '../../studies/study-log.ts';
import type { StudySummary, StudyTrial } from './study-views.ts';

/** A trial as pages see it. */
export function viewTrial(study: Pick<Study, 'objectives'>, trial: LoggedTrial): StudyTrial {
  const scores = scoresOf(trial, metricsOf(study));
  const standardErrors =
    trial.state === 'complete' ? study.objectives.map((objective) => objectiveOf(objective, scores).error) : null;
  return { ...trial, scores, standardErrors };
}

/** @param now whether any process works on the study, and whether this one does */
export function summarize(study: Study, log: StudyLog, now: { isRunning: boolean; isHere: boolean }): StudySummary {
  const { id, name, project, objectives, createdAt } = study;
  const count = (state: LoggedTrial['state']): number => log.trials.filter((trial) => trial.state === state).length;
  const best = bestSoFar(study, log.trials).at(-1);
  const isOver = log.left === 0 && log.works.every(({ end }) => end !== null);
  return {
    id,
    name,
    project: project.name,
    projectFolder: project.folder,
    status: now.isRunning ? 'running' : isOver ? 'finished' : 'stopped',
    objectives,
    trials: {
      wanted: log.trials.length + log.left,
      running: count('running'),
      paused: count('paused'),
      complete: count('complete'),
      pruned: count('pruned'),
      failed: count('failed'),
    },
    best: best === undefined ? null : pickBest(viewTrial(study, best)),
    createdAt,
    changedAt: log.changedAt === '' ? createdAt : log.changedAt,
    isHere: now.isHere,
  };
}

function pickBest({ number, values, objectives, standardErrors }: StudyTrial): NonNullable<StudySummary['best']> {
  return { number, values, objectives, standardErrors };
}
