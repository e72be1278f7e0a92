import path from 'node:path';
import { type Area, kernelLoader, kernelSources } from './areas.ts';
import type { ImportGraph } from './import-graph.ts';

/** How long each test file takes without a change, in milliseconds. Files that are missing here do not run. */
export type Durations = ReadonlyMap<string, number>;

/** The tests of one stage run in one process. A later stage runs only if the earlier ones noticed nothing. */
export type Stage = string[];

const firstStageMs = 4000;
/** The time a file takes apart from its tests, mostly for imports. */
const importMs = 600;

/**
 * The tests that may notice a change of `file`: first the nearest, then every other unit test that imports it, then the
 * area's integration tests.
 *
 *
 * @param unitTestMs the total time for unit tests; the farthest ones are dropped
 */
export function selectTests(
  file: string,
  area: Area,
  graph: ImportGraph,
  durations: Durations,
  unitTestMs: number,
): Stage[] {
  const target = targetOf(file);
  const near = [...durations.keys()]
    .filter((test) => !area.integrationTests.includes(test))
    .map((test) => ({ test, rank: rankOf(test, file, area, graph.distancesFrom(test).get(target)) }))
    .filter(({ rank }) => rank < Infinity)
    .sort((a, b) => a.rank - b.rank || (durations.get(a.test) ?? 0) - (durations.get(b.test) ?? 0))
    .map(({ test }) => test);
  const integration = area.integrationTests.filter((test) => durations.has(test)).map((test) => [test]);
  return [...splitByTime(near, durations, unitTestMs), ...integration].filter((stage) => stage.length > 0);
}

/** Whether a test imports anything of the areas, directly or not. */
export function reachesAny(test: string, sources: readonly string[], graph: ImportGraph): boolean {
  const reached = graph.distancesFrom(test);
  return sources.some((file) => reached.has(targetOf(file)));
}

function targetOf(file: string): string {
  return file.startsWith(kernelSources) ? kernelLoader : file;
}

/** Smaller is nearer: a test named after the file, then the area's tests, then by the number of imports between. */
function rankOf(test: string, file: string, area: Area, distance: number | undefined): number {
  if (distance === undefined) return Infinity;
  const isNamesake = path.basename(test).startsWith(path.basename(file, '.ts'));
  if (isNamesake) return 0;
  const place = area.nearTests.findIndex((near) => test.startsWith(near));
  return (place === -1 ? area.nearTests.length + 1 : place + 1) * 100 + distance;
}

/** Stages of 4, 12, 36 s and so on. The first one notices most changes. */
function splitByTime(tests: readonly string[], durations: Durations, limitMs: number): Stage[] {
  const stages: Stage[] = [[]];
  let stageEndsMs = firstStageMs;
  let takenMs = 0;
  for (const test of tests) {
    const milliseconds = importMs + (durations.get(test) ?? 0);
    if (takenMs + milliseconds > limitMs) continue;
    if (takenMs > stageEndsMs) {
      stages.push([]);
      stageEndsMs += firstStageMs * 3 ** (stages.length - 1);
    }
    stages.at(-1)?.push(test);
    takenMs += milliseconds;
  }
  return stages;
}
