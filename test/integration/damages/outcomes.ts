import { mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { commands, type Told } from './commands.ts';
import { damages, secret } from './damages.ts';
import { copyRun } from './sample-run.ts';

/** What a command does with a run of which one file is damaged. */
export type Outcome = 'works' | 'names it' | 'goes without' | 'refuses';

/** A sample run, and what commands do with it while it is whole. */
export interface Sample {
  folder: string;
  /** The home's folder of runs. */
  runs: string;
  maxEpochs: number;
  whole: Map<string, Told>;
}

export interface Case {
  /** The damaged file, relative to the run's folder. */
  path: string;
  damage: string;
  command: string;
}

const patienceMs = Number(process.env.TUTTI_PATIENCE ?? 90_000);

/**
 * Runs a command on a copy of the run with one damage.
 * @returns the outcome; null where the damage makes no sense for the file
 * @throws Error for what must never happen: a hang, a stack trace, another run hidden, a private file shown, an error
 * without the file's name, silence
 */
export async function outcomeOf(sample: Sample, { path, damage, command }: Case): Promise<Outcome | null> {
  const subject = freshCopy(sample);
  if (!damages[damage](join(subject.folder, path))) return null;
  const told = await withPatience(commands[command](subject));
  const whole = sample.whole.get(command);
  if (whole === undefined) throw new Error(`What ${command} tells of the whole run is unknown.`);
  const { code, said, wrote } = normalised(told);
  if (/^\s+at .*:\d+:\d+\)?$/m.test(said)) throw new Error(`a stack trace: ${said}`);
  if (`${said}${wrote}`.includes(secret)) throw new Error('a private file is shown');
  if (command === 'runs' && !said.includes('"id":"other"')) throw new Error(`the other run is hidden: ${said}`);
  const known = new Set(whole.said.split('\n'));
  const news = said.split('\n').filter((line) => !known.has(line));
  const isNamed = news.some((line) => namesOf(path).some((name) => line.includes(name)));
  if (code !== 0 && !isNamed) throw new Error(`an error without the name of the file: ${said.slice(-1500)}`);
  if (code !== 0) return 'refuses';
  if (isNamed) return 'names it';
  if (
    news.length === 0 &&
    said.length === whole.said.length &&
    withoutFile(wrote, path) === withoutFile(whole.wrote, path)
  )
    return 'works';
  if (damage === 'missing' || isUnknowable(path, damage)) return 'goes without';
  throw new Error(`silence about what is lost: ${differences(said, whole.said)}${differences(wrote, whole.wrote)}`);
}

/** What a command tells of the whole run. */
export async function wholeOutcome(sample: Sample, command: string): Promise<Told> {
  return normalised(await withPatience(commands[command](freshCopy(sample))));
}

let copies = 0;

/** A copy in a folder of its own: the index knows what it has read of a folder. */
function freshCopy({ folder, runs, maxEpochs }: Sample) {
  const out = join(runs, '..', 'out');
  for (const path of [out, join(runs, `hurt-${copies}`)]) rmSync(path, { recursive: true, force: true });
  mkdirSync(out);
  const own = join(runs, `hurt-${(copies += 1)}`);
  copyRun(folder, own, 'hurt');
  return { folder: own, out, maxEpochs };
}

async function withPatience(told: Promise<Told>): Promise<Told> {
  const waiting = new AbortController();
  const hung = setTimeout(patienceMs, undefined, { signal: waiting.signal }).then(() => {
    throw new Error('a hang');
  });
  hung.catch(() => undefined);
  return Promise.race([told, hung]).finally(() => waiting.abort());
}

/** Without what differs from run to run: times, rates, and numbers of processes. */
function normalised({ code, said, wrote }: Told): Told {
  const of = (text: string): string =>
    text
      .replaceAll(/hurt-\d+/g, 'hurt')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, '<time>')
      .replaceAll(/\d+(\.\d+)? s\b/g, '<duration>')
      .replaceAll(/("?diskBytes"?: ?)\d+/g, '$1<bytes>')
      .replaceAll(/("?trainedSeconds"?: ?)[\d.]+/g, '$1<seconds>');
  return { code, said: of(said), wrote: of(wrote) };
}

function namesOf(path: string): string[] {
  const name = basename(path);
  return [name, ...(name.length > 40 ? [name.slice(0, 12)] : [])];
}

/** Copies of a file are as damaged as the file. */
function withoutFile(wrote: string, path: string): string {
  return wrote
    .split('\n')
    .filter((line) => !line.startsWith(`/${path} `))
    .join('\n');
}

/**
 * What nobody can tell from a file that only grows by whole lines, which mean nothing to each other, or from a text of
 * the project's.
 */
function isUnknowable(path: string, damage: string): boolean {
  // A figure is a text of the project's.
  if (path.startsWith('plots/')) return damage === 'flipped';
  return (
    /^(logs\/|devices\.csv|events\.jsonl)/.test(path) &&
    ['cut', 'emptied', 'flipped', 'zeros', 'other type'].includes(damage)
  );
}

function differences(text: string, whole: string): string {
  const [lines, known] = [text.split('\n'), whole.split('\n')];
  const added = lines.filter((line) => !known.includes(line)).slice(0, 6);
  const gone = known.filter((line) => !lines.includes(line)).slice(0, 6);
  return [...gone.map((line) => `\n- ${line.slice(0, 200)}`), ...added.map((line) => `\n+ ${line.slice(0, 200)}`)].join(
    '',
  );
}
