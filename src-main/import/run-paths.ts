import { ASIDE_ENDING, DELETED_ENDING } from '../../core/node/atomic-file.ts';
import { labelsFile } from '../../core/protocol/run/labels.ts';

const files = new Set([
  'run.json',
  'notes.json',
  'metrics.csv',
  'events.jsonl',
  'devices.csv',
  'preprocessing.json',
  labelsFile,
]);
const folders = new Set([
  'logs',
  'checkpoints',
  'models',
  'state',
  'predictions',
  'postprocessing',
  'plots',
  'sources',
  'attempts',
  'origin',
]);

/** Whether a file with this path, with forward slashes, belongs to a run's folder (docs/formats.md). Locks and caches do not travel. */
export function isRunPath(path: string): boolean {
  if ([ASIDE_ENDING, DELETED_ENDING].some((ending) => path.endsWith(ending))) return false;
  const [first, ...rest] = path.split('/');
  if (rest.length > 0) return folders.has(first);
  return files.has(first) || /^metrics\.attempt-\d+\.csv$/.test(first);
}
