import { hash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { useHub } from '../harness.ts';
import { commands, slowCommands } from './commands.ts';
import { damages } from './damages.ts';
import { outcomeOf, type Sample, wholeOutcome } from './outcomes.ts';
import { copyRun, fileKinds, filesOf, trainSample } from './sample-run.ts';
import { DamageTable } from './table.ts';

/**
 * Every file of a run's folder, with every damage, under every command: `docs/damaged-files.md` has the outcomes. By
 * default some of them are tried, which a seed chooses (`TUTTI_DAMAGES_SEED`). `TUTTI_DAMAGES=all` tries all and writes
 * the table; names of commands (`TUTTI_DAMAGES=runs,show`) do so for these alone.
 */

const { hub, home } = useHub();
const wanted = process.env.TUTTI_DAMAGES;
const tried = wanted === undefined ? 60 : Infinity;
const triedSlow = wanted === undefined ? 3 : Infinity;

let sample: Sample;
let files: Map<string, string>;

beforeAll(async () => {
  const trained = await trainSample(hub());
  const folder = join(home(), 'sample');
  cpSync(trained, folder, { recursive: true, preserveTimestamps: true });
  files = filesOf(folder);
  const runs = join(home(), 'runs');
  copyRun(folder, join(runs, 'other'), 'other');
  const states = join(folder, 'state', 'rank-0');
  const newest = readdirSync(states).findLast((name) => name.endsWith('.json')) ?? '';
  const { epoch } = JSON.parse(readFileSync(join(states, newest), 'utf8')) as { epoch: number };
  sample = { folder, runs, maxEpochs: epoch + 5, whole: new Map() };
  mkdirSync(join(home(), 'out'));
}, 120_000);

/** The cases of commands in an order that the seed gives, or of the commands that `TUTTI_DAMAGES` names. */
function casesOf(names: string[], count: number) {
  const seed = process.env.TUTTI_DAMAGES_SEED ?? '1';
  const cases = names.flatMap((command) =>
    fileKinds.flatMap(([file]) => Object.keys(damages).map((damage) => ({ command, file, damage }))),
  );
  const place = (one: object): string => hash('sha256', seed + JSON.stringify(one), 'hex');
  const ordered = cases.map((one) => ({ ...one, at: place(one) })).sort((a, b) => (a.at < b.at ? -1 : 1));
  return ordered.slice(0, count);
}

const chosen = Object.keys(commands).filter(
  (command) => wanted === undefined || wanted === 'all' || wanted.split(',').includes(command),
);
const slow = chosen.filter((command) => slowCommands.includes(command));
const quick = chosen.filter((command) => !slowCommands.includes(command));

it('each command does with a damaged file of a run what the table says', async () => {
  const table = DamageTable.read();
  const failures: string[] = [];
  for (const [index, { command, file, damage }] of [...casesOf(quick, tried), ...casesOf(slow, triedSlow)].entries()) {
    if (wanted !== undefined && index % 50 === 49) await table.write();
    const place = `${command}, ${file} ${damage}`;
    try {
      if (!sample.whole.has(command)) sample.whole.set(command, await wholeOutcome(sample, command));
      const outcome = await outcomeOf(sample, { path: files.get(file) ?? '', damage, command });
      const written = table.get(file, damage, command);
      if (outcome === null) continue;
      if (wanted !== undefined) table.set(file, damage, command, outcome);
      else if (written !== undefined && outcome !== written)
        failures.push(`${place}: ${outcome}, but the table says ${written}`);
    } catch (error) {
      failures.push(`${place}: ${String(error).slice(0, 700)}`);
    }
  }
  if (wanted !== undefined) await table.write();
  expect(failures).toEqual([]);
}, 7_200_000);
