import path from 'node:path';
import { type Area, kernelLoader, kernelSources } from './areas.ts';
import type { ImportGraph } from './import-graph.ts';

/** How long a test file takes when nothing is changed, in milliseconds; of files that are missing here nothing is run. */
export type Durations = ReadonlyMap<string, number>;

/** The tests of one stage run in one process; a later stage runs only where the earlier ones noticed nothing. */
export type Stage = string[];

const firstStageMs = 4000;
/** What a file takes besides its tests, above all to import. */
const importMs = 600;

/**
 * The tests that may notice a change of `file`: first those nearest to it, then every other unit test that imports it, then the area's
 * integration tests.
 *
 * @param unitTestMs how long unit tests may take in all; those that are left out are the farthest
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

/** Whether a test imports anything of the areas, at whatever distance. */
export function reachesAny(test: string, sources: readonly string[], graph: ImportGraph): boolean {
  const reached = graph.distancesFrom(test);
  return sources.some((file) => reached.has(targetOf(file)));
}

function targetOf(file: string): string {
  return file.startsWith(kernelSources) ? kernelLoader : file;
}

/** Smaller is nearer: a test named after the file, then the area's own tests, then by the number of imports between. */
function rankOf(test: string, file: string, area: Area, distance: number | undefined): number {
  if (distance === undefined) return Infinity;
  const isNamesake = path.basename(test).startsWith(path.basename(file, '.ts'));
  if (isNamesake) return 0;
  const place = area.nearTests.findIndex((near) => test.startsWith(near));
  return (place === -1 ? area.nearTests.length + 1 : place + 1) * 100 + distance;
}

/** Stages that take 4, 12, 36 s and so on: most changes are noticed in the first. */
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
