import { resolve } from 'node:path';
import { modeOfMetric } from '../../core/metrics/metric-mode.ts';
import { whyNotComputed } from '../../core/metrics/registry/monitors.ts';
import { mergeConfig } from '../../core/options/index.ts';
import type { ProjectDescription } from '../../core/protocol/run/project-description.ts';
import { type Objective, type Study, type StudyRequest, studySchema } from '../../core/protocol/studies/study.ts';
import { memberCount, ranksForMembers } from '../../core/protocol/run/strategies/ranks-and-members.ts';
import { lockstepReason } from '../../core/protocol/run/strategies/strategy-rules.ts';
import { explainUnfitting } from '../../core/studies/space/fit-options.ts';
import { orderSpace } from '../../core/studies/space/space.ts';
import { suggestRandom } from '../../core/studies/samplers/quasi-random.ts';
import { createRunId } from '../hub/plan-run.ts';
import { whyNotStackedState } from '../runs/configuration/memory-combinations.ts';
import { optionsOf, resolveConfig } from '../runs/configuration/resolve-config.ts';
import { layerOf, oneModelMessage } from './work/trial-work.ts';

/** Draws of a space whose configurations are checked before a study begins. */
const checkedDraws = 3;

/**
 * The study of a request: the space is the project's own `search` unless it names one.
 * @param places trials at a time, unless the request says so
 * @throws Error with a line for each problem: value, rule, remedy
 */
export function studyOf(request: StudyRequest, project: ProjectDescription, places: number): Study {
  const space = request.space ?? project.search;
  if (space === undefined) {
    throw new Error(
      `The project "${project.name}" names nothing to search. Add \`search\` to its project.ts, or name parameters: ` +
        '--search "optimizer.learningRate=log(1e-4,0.1)".',
    );
  }
  const study = studySchema.parse({
    format: 1,
    id: createRunId(request.projectFolder),
    name: request.name ?? project.name,
    project: { name: project.name, folder: resolve(request.projectFolder) },
    task: project.task,
    createdAt: new Date().toISOString(),
    space,
    sampler: request.sampler ?? { kind: 'tpe' },
    pruner: request.pruner ?? { kind: 'none' },
    resource: request.resource ?? 'epochs',
    objectives: request.objectives,
    evaluation: request.evaluation ?? 'best',
    overrides: request.overrides ?? {},
    splits: request.splits ?? [],
    seeds: request.seeds ?? 1,
    parallel: request.parallel ?? places,
    trialsPerWorker: request.trialsPerWorker ?? 1,
    seed: request.seed ?? 0,
    minimumImprovement: request.minimumImprovement ?? 0,
  });
  const problems = [
    ...problemsOfSpace(study, project),
    ...problemsOfObjectives(study, project),
    ...problemsOfWorkers(study),
  ];
  if (problems.length > 0) throw new Error(problems.join('\n'));
  checkConfigurations(study, project);
  return study;
}

function problemsOfSpace({ space, splits }: Study, project: ProjectDescription): string[] {
  const options = optionsOf(project);
  const unfit = explainUnfitting(space, options).map(({ message }) => message);
  const paths = [...new Set(splits.flatMap((split) => Object.keys(split)))];
  const clashes = paths.filter((path) => Object.hasOwn(space, path));
  return [
    ...unfit,
    ...clashes.map((path) => `${path} makes the splits, so it cannot be searched too. Leave it out of one.`),
  ];
}

function problemsOfWorkers({ parallel, trialsPerWorker }: Study): string[] {
  if (parallel % trialsPerWorker === 0) return [];
  const least = Math.ceil(parallel / trialsPerWorker) * trialsPerWorker;
  return [
    `${parallel} trials at a time do not fill workers of ${trialsPerWorker} trials. Use --parallel ${least}, ` +
      'or another --trials-per-worker.',
  ];
}

function problemsOfObjectives({ objectives }: Study, project: ProjectDescription): string[] {
  const run = { task: project.task, isJoint: true, own: project.metrics ?? [], outputs: project.outputs };
  return objectives.flatMap(({ metric, kind }) => {
    const name = kind === 'ensemble' ? `val/ens_${metric}` : `val/member_{rank}_${metric}`;
    const problem = whyNotComputed(name, run, 'The objective');
    // A metric of the whole ensemble has no prefix.
    const isWhole = kind === 'ensemble' && whyNotComputed(`val/${metric}`, run, 'The objective') === null;
    return problem === null || isWhole ? [] : [problem];
  });
}

/** Checks a few configurations of the space, so that a study that cannot work does not begin. */
function checkConfigurations(study: Study, project: ProjectDescription): void {
  const directions = study.objectives.map(({ direction }) => direction);
  const question = { space: orderSpace(study.space), directions, seed: study.seed, trials: [] };
  const split = layerOf(study.splits.at(0) ?? {}, project.hyperparameters);
  for (let number = 0; number < checkedDraws; number++) {
    const layer = layerOf(suggestRandom({ ...question, number }), project.hyperparameters);
    const config = resolveConfig(project, [mergeConfig(mergeConfig(study.overrides, layer), split)]);
    const { trialsPerWorker, pruner, resource } = study;
    const countsMembers = resource === 'members' && 'maximumResource' in pruner;
    if (countsMembers && ranksForMembers(config.strategy, memberCount(1)) === null) {
      throw new Error(oneModelMessage(config.strategy.kind));
    }
    const state = whyNotStackedState(config.optimizer, trialsPerWorker, 'trials');
    if (state !== null) throw new Error(`${state} Use --trials-per-worker 1, or --optimizer.state-precision float32.`);
    const reason = trialsPerWorker === 1 ? null : lockstepReason(config);
    if (reason === null) continue;
    throw new Error(
      `With ${reason} each rank has a separate worker, so ${trialsPerWorker} trials cannot share one. Use ` +
        '--trials-per-worker 1.',
    );
  }
}

/** The metric that tells best how good a run of a task is. */
export function usualMetric(task: string): string {
  if (task === 'quantile-regression') return 'pinball';
  return task === 'regression' ? 'mse' : 'nll';
}

/**
 * An objective in the direction in which its metric improves.
 * @throws Error if neither direction is better, or the metric is unknown
 */
export function objectiveFor(
  { metric, kind }: Pick<Objective, 'metric' | 'kind'>,
  project: Pick<ProjectDescription, 'metrics' | 'task'>,
): Objective {
  const own = project.metrics?.find(({ name }) => name === metric)?.direction;
  const mode = own === undefined ? modeOfMetric(`val/ens_${metric}`) : own === 'none' ? null : own;
  if (mode === undefined) {
    const run = { task: project.task, isJoint: true, own: project.metrics ?? [] };
    throw new Error(whyNotComputed(`val/ens_${metric}`, run, 'The objective') ?? `There is no metric ${metric}.`);
  }
  if (mode === null) {
    throw new Error(
      `The objective is ${metric}, of which neither a smaller nor a larger value is better. Name another metric.`,
    );
  }
  return { metric, kind, direction: mode === 'min' ? 'minimize' : 'maximize' };
}
