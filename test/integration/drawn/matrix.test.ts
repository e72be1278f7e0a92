import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ConfigProblem, getPath } from '../../../core/options/index.ts';
import { Generator } from '../../../core/random/generator.ts';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { messageOf } from '../../../core/text/errors.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import { stagesOf } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import { askedPerWorker } from '../../../core/protocol/run/workers.ts';
import { planPlacement } from '../../../src-main/devices/plan.ts';
import { findConflicts } from '../../../src-main/runs/configuration/combinations.ts';
import { withOwnModes } from '../../../src-main/runs/configuration/metric-combinations.ts';
import { checkConfig } from '../../../src-main/runs/configuration/resolve-config.ts';
import { useHub } from '../harness.ts';
import { type DataRule, dataRules } from './data-rules.ts';
import { type DrawnRun, DrawnRuns } from './drawn-runs.ts';
import { PairCover, type RefusedPair } from './pairs.ts';
import * as reference from './reference.ts';
import { allSettings, configOf, nameOf, projectOf, type Setting, type Wishes } from './settings.ts';
import type { Device } from '../../../core/protocol/machine/devices.ts';
import { selectDevices } from '../../../src-main/devices/selection.ts';
import { usableKinds } from '../../../src-main/processes/native-build.ts';

const { hub } = useHub();
/** Runs of the covering array that are trained; `TUTTI_MATRIX=all`: all of them, each night. */
const wanted = process.env.TUTTI_MATRIX === 'all' ? Infinity : Number(process.env.TUTTI_MATRIX ?? 10);
const seed = Number(process.env.TUTTI_REFERENCE_SEED ?? 27);
/** Settings of a run: with more of them fewer runs have all pairs, and it takes longer to find which one fails. */
const settingsOfRun = 30;

let root = '';
let runs: DrawnRuns;
let devices: Device[] = [];
let cover: PairCover;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tutti-matrix-'));
  runs = new DrawnRuns(hub(), root);
  ({ devices } = await hub().devices());
  // Checks some 30,000 configurations, which takes minutes on a busy machine.
  cover = new PairCover(allSettings(), refusals);
}, 600_000);
afterAll(async () => {
  await runs.close();
  await rm(root, { recursive: true, force: true });
});

/** What the hub knows of the drawn projects, without starting their processes. */
const described: Omit<ProjectDescription, 'task'> = {
  name: 'Drawn',
  description: '',
  hasOwnLoss: false,
  metrics: [],
  hyperparameters: [],
  defaults: {},
  permissions: { network: false, processes: false, environment: [], read: [], write: [] },
};

/** Why the hub refuses a run before it starts any process, or why its data do not suit it. */
function refusals(wishes: Wishes): readonly ConfigProblem[] {
  const { task } = projectOf(wishes);
  const project = { ...described, task };
  const { config: checked, problems } = checkConfig(project, [configOf(wishes)]);
  if (checked === null) return problems;
  const config = withOwnModes(checked, project);
  const { placement, members: ranks } = config;
  const stages = ranks % stagesOf(config) === 0 ? stagesOf(config) : 1;
  const selected = selectDevices(config.devices, devices, usableKinds(config.backend));
  const plan = planPlacement({ ranks, placement, membersPerWorker: askedPerWorker(config), stages, devices: selected });
  const conflicts = findConflicts(config, plan, project);
  if (conflicts.length > 0) return conflicts;
  const rule = dataRules.find(({ applies }) => applies(projectOf(wishes).form, config));
  return rule === undefined ? [] : [{ path: '(data)', message: rule.message }];
}

/** How a person may call an option: its path, its flag, or its words. */
function namesOf({ path, value, kinds }: Setting): string[] {
  const last = path.slice(path.lastIndexOf('.') + 1);
  const words = last.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const flag = path.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const isKind = path.endsWith('.kind');
  const kindNames = isKind || path.startsWith('(') ? [String(value)] : Object.values(kinds);
  return [path, isKind ? flag.slice(0, -'.kind'.length) : flag, words, ...kindNames];
}

function isNamed({ wishes, problems }: RefusedPair): boolean {
  const said = problems.map(({ message }) => message.toLowerCase());
  return wishes.some((wish) => namesOf(wish).some((name) => said.some((text) => text.includes(name.toLowerCase()))));
}

it('options that exclude each other are refused with a message that names one of them', () => {
  const all = [...cover.never, ...cover.refused];
  expect(all.length).toBeGreaterThan(200);
  // What only a run's processes say has a test below.
  const unnamed = all.filter((pair) => pair.problems[0].path !== '(data)' && !isNamed(pair));
  expect(unnamed.map(({ wishes, problems }) => `${wishes.map(nameOf).join(' + ')}: ${problems[0].message}`)).toEqual(
    [],
  );
});

async function train(task: DrawnRun['task'], form: ReturnType<typeof projectOf>['form'], config: RunConfigInput) {
  const data = {
    samples: 60,
    kind: form === 'steps' || form === 'pixels' ? form : ('values' as const),
    hasWeights: form === 'weights',
    hasMask: form === 'mask' || form === 'steps',
    hasContext: form === 'context',
  };
  return runs.train({ task, hasOutputs: form === 'outputs', data, config });
}

it.each(dataRules)(
  'data that do not suit are refused: $example.form, $message',
  async ({ message, example }: DataRule) => {
    const { record } = await train('classification', example.form, example.config);
    expect(record.status).toBe('failed');
    expect(record.error?.message).toContain(message);
  },
);

/** Expects what is true of every run that ends well. @throws Error that says what is not */
async function requireTrue(wishes: Wishes): Promise<void> {
  const { task: kind, form } = projectOf(wishes);
  const { folder, record } = await train(kind, form, configOf(wishes));
  const { status, error, config, task, summary } = record;
  if (status !== 'finished' || summary === null) throw new Error(`It is ${status}: ${error?.message}`);
  for (const { path, value } of wishes) {
    if (path.startsWith('(')) continue;
    expect(getPath(config, path.split('.')), path).toEqual(value);
  }
  expect(summary.metrics['train/loss'], 'train/loss').toSatisfy(Number.isFinite);
  const isJoint = reference.answersJointly(config, task);
  const score = reference.scoreName(task);
  const { nllEpsilon } = config.metrics;
  expect(summary.evaluatedSets.map(({ set }) => set)).toContain('final');
  for (const { set, split, ranks = [], ensemble } of summary.evaluatedSets) {
    const kept = await reference.readKept(folder, record, ranks, split, set);
    const own = reference.scoreOf(kept, isJoint, nllEpsilon);
    expect(ensemble[isJoint ? `product_${score}` : score], `${score} of ${set}`).toBeCloseTo(own, 5);
  }
}

async function failureOf(wishes: Wishes): Promise<string | null> {
  return requireTrue(wishes).then(() => null, messageOf);
}

/**
 * The fewest of the wishes that fail, found by leaving out halves, then quarters and so on (Zeller and Hildebrandt,
 * 2002, delta debugging).
 */
async function smallest(wishes: Wishes): Promise<string> {
  let own = wishes;
  for (let size = Math.ceil(own.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let first = 0; first < own.length;) {
      const fewer = own.filter((_, i) => i < first || i >= first + size);
      if (refusals(fewer).length === 0 && (await failureOf(fewer)) !== null) own = fewer;
      else first += size;
    }
  }
  return `${own.map(nameOf).join(', ')}: ${await failureOf(own)}`;
}

it(
  'every two options that are not refused train, with the result that the run says it has',
  { timeout: 3_600_000 },
  async () => {
    const random = new Generator(seed, 'matrix');
    const failures: string[] = [];
    let count = 0;
    for (const wishes of cover.runs((end) => random.integer(end), settingsOfRun)) {
      if (count++ >= wanted) break;
      if ((await failureOf(wishes)) !== null) failures.push(await smallest(wishes));
    }
    expect(failures).toEqual([]);
  },
);
