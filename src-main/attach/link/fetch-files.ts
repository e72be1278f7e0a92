import { followedAs, largestWholeBytes } from '../../../core/protocol/run/follow.ts';
import { quote } from '../../../core/text/printable.ts';
import type { Ssh } from './ssh.ts';

const beginning = 'tutti: files follow\n';
/** All files that are followed; the record comes last, as from a hub. */
const patterns = [
  'metrics*.csv devices.csv events.jsonl logs/rank-*.log labels.json preprocessing.json',
  'checkpoints/rank-*/*.json models/rank-*/*.json postprocessing/*.json',
  'predictions/*/*.safetensors predictions/*/rank-*/*.safetensors plots/*.svg plots/*.png',
  'run.json',
];

export interface FetchedFile {
  path: string;
  bytes: Uint8Array;
}

/** The record of a run elsewhere, as text; null if its folder holds none. */
export async function fetchRecord(ssh: Ssh, folder: string): Promise<string | null> {
  const [record] = await fetchByPattern(ssh, folder, 'run.json');
  return record === undefined ? null : Buffer.from(record.bytes).toString();
}

/** Reads the files of a run that nobody trains any more, without a hub: only `sh`, `wc`, `head` are needed there. */
export function fetchFiles(ssh: Ssh, folder: string): Promise<FetchedFile[]> {
  return fetchByPattern(ssh, folder, patterns.join(' '));
}

async function fetchByPattern(ssh: Ssh, folder: string, pattern: string): Promise<FetchedFile[]> {
  const script = [
    `printf '%s' ${quote([beginning])}`,
    `cd ${quote([folder])} || exit 0`,
    `for file in ${pattern}; do`,
    '  [ -f "$file" ] || continue',
    '  bytes=$(($(wc -c < "$file")))',
    `  case $file in *.csv|*.jsonl|*.log) ;; *) [ "$bytes" -le ${largestWholeBytes} ] || continue ;; esac`,
    `  printf '%s %s\\n' "$bytes" "$file"`,
    '  head -c "$bytes" "$file"',
    'done',
    '',
  ].join('\n');
  return split(await ssh.run(script));
}

function split(output: Buffer): FetchedFile[] {
  const files: FetchedFile[] = [];
  const start = output.indexOf(beginning);
  if (start === -1)
    throw new Error(`The shell there printed something else than was asked for: ${output.subarray(0, 200).toString()}`);
  let at = start + beginning.length;
  while (at < output.length) {
    const end = output.indexOf('\n', at);
    const [, length, path] = /^(\d+) (.+)$/.exec(output.subarray(at, end).toString()) ?? [];
    if (path === undefined) throw new Error('The files that were fetched are damaged. Connect again.');
    at = end + 1;
    const bytes = output.subarray(at, at + Number(length));
    if (bytes.length < Number(length)) throw new Error(`${path} was cut short. Connect again.`);
    if (followedAs(path) !== null) files.push({ path, bytes });
    at += bytes.length;
  }
  return files;
}
