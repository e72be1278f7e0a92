import { bestSoFar, metricsOf, objectiveOf, scoresOf } from '../studies/results.ts';
import { importanceReport } from '../../studies/importance/ped-anova.ts';
import { configurationsOf } from '../../studies/samplers/index.ts';
import type { Trial } from '../../studies/trial.ts';
import { orderSpace } from '../../studies/space/space.ts';
import { hasTriedAll } from '../studies/next-piece.ts';
import type { Study } from '../studies/study.ts';
import type { LoggedTrial, StudyLog } from '../studies/study-log.ts';
import type { StudyImportance, StudySummary, StudyTrial } from './study-views.ts';

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
  const hasMore = log.left > 0 && !hasTriedAll(study, log, log.trials);
  const isOver = !hasMore && log.works.every(({ end }) => end !== null);
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
    configurations: configurationsOf(study.sampler, orderSpace(study.space)),
    best: best === undefined ? null : pickBest(viewTrial(study, best)),
    createdAt,
    changedAt: log.changedAt === '' ? createdAt : log.changedAt,
    isHere: now.isHere,
  };
}

/** Which parameters matter, for each objective. */
export function importanceOf(
  { space, objectives }: Pick<Study, 'space' | 'objectives'>,
  trials: readonly Trial[],
): StudyImportance[] {
  return objectives.map((objective, index) => ({
    objective,
    ...importanceReport(orderSpace(space), trials, { index, direction: objective.direction }),
  }));
}

/**
 * Says that a study ends, or has ended, before it has its trials, because no configuration is left to try; null if that
 * is not so.
 */
export function describeSpentSpace({ status, trials, configurations }: StudySummary): string | null {
  if (configurations === null || configurations >= trials.wanted) return null;
  const begun = trials.running + trials.paused + trials.complete + trials.pruned + trials.failed;
  const holds = `There ${configurations === 1 ? 'is 1 configuration' : `are ${configurations} configurations`} to try`;
  if (status === 'finished' && begun < trials.wanted) return `${holds}, and the study has tried all.`;
  return `${holds}, each once, so the study ends before it has ${trials.wanted} trials.`;
}

function pickBest({ number, values, objectives, standardErrors }: StudyTrial): NonNullable<StudySummary['best']> {
  return { number, values, objectives, standardErrors };
}
