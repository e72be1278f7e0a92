import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../../core/protocol/run/config.ts';
import { type Channel, createChannelPair } from '../../../../core/protocol/wire/channel.ts';
import { findResumePoint } from '../../../../src-main/store/runs/resume-point.ts';
import { startBackend } from '../../../../workers/backends/backend.ts';
import type { Callback } from '../../../../workers/callbacks/callback.ts';
import type { ProcessGroup } from '../../../../workers/collectives/process-group.ts';
import { BroadcastBatches } from '../../../../workers/data/batches.ts';
import type { TrainerSetup } from '../../../../workers/training/trainer.ts';
import { loadTrainingState } from '../../../../workers/training/saved-state.ts';
import { Trainer } from '../../../../workers/training/trainer.ts';
import { createRelay, join as joinGroup } from '../../relay/in-memory-group.ts';
import { dataset } from '../../strategies/ranks.ts';
import { type KeptReport, type ReportedPoint, temporaryFolder } from './fakes.ts';
import { base, partsOf, strategies } from './two-ranks.ts';

beforeAll(async () => void (await startBackend('cpu')));

const ranks = [0, 1] as const;
/** Every answer of a strategy takes a minute. */
const timeout = process.env.TUTTI_FAULTS === 'all' ? 600_000 : undefined;
const input: RunConfigInput = {
  ...base,
  maxEpochs: 2,
  logEverySteps: 1,
  checkpoints: { stateEverySeconds: 1_000_000 },
};

/** Strategies in lockstep, and what makes independent ranks so. */
const cases: [string, RunConfigInput][] = [
  ...Object.entries(strategies)
    .filter(([name]) => name !== 'independent')
    .map(([name, strategy]): [string, RunConfigInput] => [name, { ...input, strategy }]),
  [
    'hdet without exchanged gradients',
    { ...input, strategy: { kind: 'hdet', gradientSync: false, averageEverySteps: 3 } },
  ],
  ['sharded with clipping', { ...input, strategy: { kind: 'sharded' }, optimizer: { kind: 'lamb', clipNorm: 0.5 } }],
  ['coupled without coupling', { ...input, strategy: { kind: 'coupled', unlabelledBatchSize: 7, couplingWeight: 0 } }],
  ['broadcast batches', { ...input, data: { mode: 'broadcast' } }],
];

interface Outcome {
  hasEnded: boolean[];
  points: ReportedPoint[][];
  /** Points that the hub wrote. */
  recorded: ReportedPoint[][];
  weights: number[][];
  callbacks: unknown[];
  steps: number[];
  /** Answers that the hub sent. */
  answers: number;
}

/** A hub that dies once it has sent a number of answers: the ranks get no later ones, and then notice. */
function dyingHub(answersBeforeDeath: number): { groups: ProcessGroup[]; sent: () => number; onDeath: (() => void)[] } {
  const relay = createRelay(ranks);
  const pairs = ranks.map(() => createChannelPair());
  const onDeath: (() => void)[] = [];
  let sent = 0;
  const die = (): void => {
    for (const [hub] of pairs) hub.close();
    for (const notice of onDeath) notice();
  };
  const serve = (rank: number, channel: Channel): void => {
    relay.attach(rank, (frame) => {
      if (sent === answersBeforeDeath) die();
      sent += 1;
      if (sent <= answersBeforeDeath) channel.send(frame);
    });
    channel.onFrame((frame) => {
      if (frame.kind === 'collective') relay.receive(rank, frame);
    });
  };
  for (const rank of ranks) serve(rank, pairs[rank][0]);
  return { groups: ranks.map((rank) => joinGroup(rank, ranks, pairs[rank][1])), sent: () => sent, onDeath };
}

function rankOf(config: RunConfigInput, folder: string, group: ProcessGroup): TrainerSetup & { report: KeptReport } {
  const parts = partsOf(config, folder, group);
  if (config.data?.mode !== 'broadcast') return parts;
  return { ...parts, batches: new BroadcastBatches(group, dataset, dataset.length) };
}

interface Ends {
  /** The hub dies once it has sent so many answers. */
  answers?: number;
  /** Ranks get a stop at this step. */
  stopAt?: number;
}

/** Trains both ranks, from their newest common state if there is one. */
async function trainRanks(
  folder: string,
  config: RunConfigInput,
  { answers = Infinity, stopAt = Infinity }: Ends = {},
): Promise<Outcome> {
  const { groups, sent, onDeath } = dyingHub(answers);
  const trained = groups.map((group) => rankOf(config, folder, group));
  for (const { controls } of trained) onDeath.push(() => controls.loseHub());
  for (const { report, controls } of trained) {
    report.recorded = async () => {
      if (controls.isHubGone) return null;
      // The hub writes the points of all ranks.
      for (const rank of trained) rank.report.recordedPoints = rank.report.points.length;
      return report.recordedPoints;
    };
  }
  const stopper: Callback = {
    name: 'stopper',
    onStepEnd: ({ step, rank }) => {
      if (rank === 0 && step === stopAt) for (const { controls } of trained) controls.take({ action: 'stop' });
    },
  };
  const point = await findResumePoint(folder, ranks);
  const trainers: Trainer[] = [];
  for (const parts of trained) {
    const resumed = point === null ? undefined : await loadTrainingState(parts, { round: point.round, worldSize: 2 });
    trainers.push(new Trainer({ ...parts, callbacks: [...parts.callbacks, stopper] }, resumed));
  }
  const ends = await Promise.allSettled(trainers.map((trainer) => trainer.fit()));
  return {
    hasEnded: ends.map(({ status }) => status === 'fulfilled'),
    points: trained.map(({ report }) => untimed(report.points)),
    recorded: trained.map(({ report }) => untimed(report.points.slice(0, report.recordedPoints))),
    weights: trained.map(({ member }) => member.model.getWeights().flatMap((weight) => [...weight.dataSync()])),
    callbacks: trained.map(({ callbacks }) => callbacks.map((callback) => callback.state?.())),
    steps: trainers.map(({ training }) => training.step),
    answers: sent(),
  };
}

async function runFolder(attempts = 1): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'run.json'), JSON.stringify({ attempts: Array.from({ length: attempts }, () => ({})) }));
  return folder;
}

function untimed(points: readonly ReportedPoint[]): ReportedPoint[] {
  return points.filter(({ name }) => !name.endsWith('samples_per_second'));
}

/** Each point once: a resumed rank reports again what the hub may not have written. */
const distinct = (points: readonly ReportedPoint[]): string[] =>
  [...new Set(points.map((point) => JSON.stringify(point)))].sort();

/** A resume repeats the steps since the last exchange. */
const stepsOfAnExchange: Record<string, number> = {
  'joint, pipelined': 2,
  'hdet without exchanged gradients': 3,
  'coupled without coupling': 14,
};

/** All numbers of answers after which the hub may die, or some of them. */
function deaths(answers: number): number[] {
  if (process.env.TUTTI_FAULTS === 'all') return Array.from({ length: answers - 1 }, (_, i) => i + 1);
  const some = fc.sample(fc.integer({ min: 1, max: answers - 2 }), { seed: 3, numRuns: 3 });
  return [...some, answers - 1];
}

/** An odd number of answers: the first rank got one more than the second. */
describe.each(cases)('%s: ranks whose hub dies between any two answers', (name, config) => {
  it('save their last common position; the resumed run has the bits of an undisturbed one', { timeout }, async () => {
    const whole = await trainRanks(await runFolder(), config);
    expect(whole.hasEnded).toEqual([true, true]);
    const repeated = stepsOfAnExchange[name] ?? 1;
    for (const answers of deaths(whole.answers)) {
      const folder = await runFolder();
      const killed = await trainRanks(folder, config, { answers });
      // The first rank ends with the last answer but one.
      expect(killed.hasEnded, `after ${answers} answers`).toEqual([answers === whole.answers - 1, false]);
      const most = Math.max(...killed.steps);
      expect(most - Math.min(...killed.steps)).toBeLessThanOrEqual(repeated);
      expect(most - ((await findResumePoint(folder, ranks))?.step ?? 0)).toBeLessThanOrEqual(repeated);
      const resumed = await trainRanks(folder, config);
      // Before its last save, the hub has written nothing: all points come from the states.
      const points = resumed.points.map((ofResumed, rank) => distinct([...killed.recorded[rank], ...ofResumed]));
      expect(points, `after ${answers} answers`).toEqual(whole.points.map(distinct));
      expect(resumed.weights, `after ${answers} answers`).toEqual(whole.weights);
      // If training had ended, the resume evaluates once more.
      const callbacks = killed.hasEnded[0] ? whole.callbacks : resumed.callbacks;
      expect(callbacks).toEqual(whole.callbacks);
    }
  });
});

describe.each(cases)('%s: ranks whose hub dies after a stop', (_, config) => {
  it('resume as if they had not been stopped', { timeout }, async () => {
    const ofRound = { ...config, evaluateEveryEpochs: 2 };
    const whole = await trainRanks(await runFolder(), ofRound);
    const stopAt = 5;
    const stopped = await trainRanks(await runFolder(), ofRound, { stopAt });
    // The last answers are those of the rendezvous, which saves within the round and evaluates.
    const all = Array.from({ length: 16 }, (_, i) => Math.max(1, stopped.answers - 16 + i));
    for (const answers of process.env.TUTTI_FAULTS === 'all' ? all : [all[2], all[7], all[8], all[12]]) {
      const folder = await runFolder();
      const killed = await trainRanks(folder, ofRound, { stopAt, answers });
      const point = await findResumePoint(folder, ranks);
      const resumed = await trainRanks(folder, ofRound);
      const points = resumed.points.map((ofResumed, rank) => distinct([...killed.recorded[rank], ...ofResumed]));
      expect(points, `after ${answers} answers, ${JSON.stringify(point)}`).toEqual(whole.points.map(distinct));
      expect(resumed.weights, `after ${answers} answers`).toEqual(whole.weights);
      expect(resumed.callbacks, `after ${answers} answers`).toEqual(whole.callbacks);
    }
  });
});

describe('ranks in lockstep', () => {
  it('save nothing into a run that another hub has taken over', async () => {
    const folder = await runFolder(2);
    await trainRanks(folder, { ...input, strategy: { kind: 'joint' } }, { answers: 21 });
    expect(await findResumePoint(folder, ranks)).toBeNull();
  });
});
