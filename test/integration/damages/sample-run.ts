import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Hub } from '../../../src-main/hub/hub.ts';
import { FollowedRun } from '../../../src-main/hub/followed-run.ts';
import { writeMetricsIndex } from '../../../src-main/store/index/metrics-index.ts';
import { MetricsTail } from '../../../src-main/store/metrics/metrics-tail.ts';
import { changeRunNotes } from '../../../src-main/store/runs/run-notes.ts';
import { startRun, watchResume } from '../harness.ts';
import { runCommand } from './run-command.ts';

/**
 * The files that a run's folder may hold, each by a pattern of its path; of several that match, the first is damaged.
 */
export const fileKinds: [name: string, pattern: RegExp][] = [
  ['run.json', /^run\.json$/],
  ['notes.json', /^notes\.json$/],
  ['metrics.csv', /^metrics\.csv$/],
  ['metrics.attempt-1.csv', /^metrics\.attempt-1\.csv$/],
  ['metrics.index', /^metrics\.index$/],
  ['events.jsonl', /^events\.jsonl$/],
  ['devices.csv', /^devices\.csv$/],
  ['logs/rank-0.log', /^logs\/rank-0\.log$/],
  ['checkpoints/…/ensemble-best.json', /^checkpoints\/rank-0\/ensemble-best\.json$/],
  ['checkpoints/…/ensemble-best.safetensors', /^checkpoints\/rank-0\/ensemble-best\.safetensors$/],
  ['models/…/<sha256>.json', /^models\/rank-0\/.*\.json$/],
  ['state/…/round-<n>.json', /^state\/rank-0\/round-\d+\.json$/],
  ['state/…/round-<n>.safetensors', /^state\/rank-0\/round-\d+\.safetensors$/],
  ['state/…/replaced/…json', /^state\/rank-0\/replaced\/checkpoints\/.*\.json$/],
  ['state/…/replaced/…safetensors', /^state\/rank-0\/replaced\/checkpoints\/.*\.safetensors$/],
  ['predictions/…/best.safetensors', /^predictions\/validation\/rank-0\/best\.safetensors$/],
  ['predictions/…/targets.safetensors', /^predictions\/validation\/targets\.safetensors$/],
  ['preprocessing.json', /^preprocessing\.json$/],
  ['postprocessing/<set>.json', /^postprocessing\/[^/]+\.json$/],
  ['postprocessing/<set>-<hash>.safetensors', /^postprocessing\/[^/]+\.safetensors$/],
  ['plots/<name>.svg', /^plots\/.*\.svg$/],
  ['plots/<name>.png', /^plots\/.*\.png$/],
  ['sources/<sha256>/project.ts', /^sources\/.*project\.ts$/],
  ['attempts/<n>/run.json', /^attempts\/1\/run\.json$/],
  ['attempts/<n>/metrics.csv', /^attempts\/1\/metrics\.csv$/],
  ['attempts/<n>/checkpoints/…json', /^attempts\/1\/checkpoints\/rank-0\/ensemble-best\.json$/],
  ['attempts/<n>/state/…json', /^attempts\/1\/state\/rank-0\/.*\.json$/],
  ['hub.lock', /^hub\.lock$/],
  ['.lock', /^\.lock$/],
];

const config = {
  members: 2,
  devices: 2,
  maxEpochs: 6,
  logEverySteps: 1,
  evaluateEveryEpochs: 2,
  checkpoints: { stateEverySeconds: 0 },
};

/**
 * Trains a run that has every kind of file: finished, calibrated, resumed, and stopped within a round.
 * @returns its folder
 */
export async function trainSample(hub: Hub): Promise<string> {
  const first = await startRun(hub, 'passengers', config);
  const { folder } = first;
  await first.ended;
  const second = await watchResume(hub, folder, { maxEpochs: 4000 });
  await second.until((update) => update.type === 'points' && Math.max(...update.batch.epoch) > 8);
  second.session.control({ action: 'stop' });
  await second.ended;
  const calibrated = await runCommand(['calibrate', folder, '--outside', 'knn']);
  if (calibrated.code !== 0) throw new Error(calibrated.output);
  await changeRunNotes(folder, { name: 'hurt', note: 'a note', tags: ['kept'] });
  if (!existsSync(join(folder, 'metrics.attempt-1.csv')))
    cpSync(join(folder, 'metrics.csv'), join(folder, 'metrics.attempt-1.csv'));
  keepReplaced(folder);
  drawFigure(folder);
  await indexMetrics(folder);
  return folder;
}

/** A stop replaces a checkpoint only where its last evaluation is the best. */
function keepReplaced(folder: string): void {
  const kept = join(folder, 'state', 'rank-0', 'replaced', 'checkpoints');
  if (existsSync(kept)) return;
  mkdirSync(kept, { recursive: true });
  for (const ending of ['json', 'safetensors'])
    cpSync(join(folder, 'checkpoints', 'rank-0', `member-best.${ending}`), join(kept, `member-best.${ending}`));
}

/** A figure as a project draws it, in both forms. */
function drawFigure(folder: string): void {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  mkdirSync(join(folder, 'plots'), { recursive: true });
  writeFileSync(join(folder, 'plots', 'members.png'), Buffer.from(png, 'base64'));
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><rect width="1" height="1"/></svg>\n';
  writeFileSync(join(folder, 'plots', 'members.svg'), svg);
}

/** Only files of more than 4 MiB have an index. */
async function indexMetrics(folder: string): Promise<void> {
  const { columns } = await FollowedRun.open(folder);
  const tail = new MetricsTail(folder);
  await tail.read({ point: () => undefined, damaged: () => undefined, reset: () => undefined });
  if (tail.state !== null) await writeMetricsIndex(folder, tail.state, columns);
}

/** Copies the run, under another id. */
export function copyRun(from: string, to: string, id: string): void {
  cpSync(from, to, { recursive: true, preserveTimestamps: true });
  const path = join(to, 'run.json');
  const record = JSON.parse(readFileSync(path, 'utf8')) as { id: string };
  writeFileSync(path, `${JSON.stringify({ ...record, id }, null, 2)}\n`);
}

/** The damaged file of each kind, by the kind's name. @throws Error where the run has none of a kind */
export function filesOf(folder: string): Map<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .map((path) => relative('.', path).replaceAll('\\', '/'))
    .sort();
  return new Map(
    fileKinds.map(([name, pattern]) => {
      const path = paths.findLast((one) => pattern.test(one));
      if (path === undefined) throw new Error(`The run has no ${name}: ${paths.join(' ')}`);
      return [name, path];
    }),
  );
}
