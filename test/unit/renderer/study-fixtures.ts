import type { StudySummary, StudyTrial, StudyView } from '../../../core/protocol/pages/study-views.ts';
import type { Study } from '../../../core/protocol/studies/study.ts';
import { suggestQuasiRandom } from '../../../core/studies/samplers/quasi-random.ts';
import { orderSpace } from '../../../core/studies/space/space.ts';
import { Generator } from '../../../core/random/generator.ts';
import { studyOf } from '../studies/studies.ts';

const begin = Date.parse('2026-11-23T07:00:00.000Z');

/** A time so many seconds after the study began. */
export function timeAt(seconds: number): string {
  return new Date(begin + 1000 * seconds).toISOString();
}

/** A complete trial of `studyOf`, with changes. */
export function trialOf(number: number, changes: Partial<StudyTrial> = {}): StudyTrial {
  return {
    number,
    state: 'complete',
    values: { weightDecay: 0.1, units: 8 },
    objectives: [0.5],
    reports: [],
    isEnqueued: false,
    isImported: false,
    standardErrors: [NaN],
    scores: [],
    runs: [],
    startedAt: timeAt(10 * number),
    endedAt: timeAt(10 * number + 8),
    error: null,
    ...changes,
  };
}

export function viewOf(trials: StudyTrial[], changes: Partial<Study> = {}): StudyView {
  const study = studyOf(changes);
  return {
    study,
    folder: '/home/studies/study-1',
    summary: summaryOf(study, trials),
    trials,
    enqueued: [],
    warnings: [],
  };
}

export function summaryOf(study: Study, trials: readonly StudyTrial[]): StudySummary {
  const count = (state: StudyTrial['state']): number => trials.filter((trial) => trial.state === state).length;
  const complete = trials.filter(({ state }) => state === 'complete');
  const best = complete.reduce<StudyTrial | null>(
    (least, trial) =>
      least === null || (trial.objectives?.[0] ?? NaN) < (least.objectives?.[0] ?? NaN) ? trial : least,
    null,
  );
  return {
    id: study.id,
    name: study.name,
    project: study.project.name,
    projectFolder: study.project.folder,
    status: 'stopped',
    objectives: study.objectives,
    trials: {
      wanted: Math.max(100, trials.length),
      running: count('running'),
      paused: count('paused'),
      complete: count('complete'),
      pruned: count('pruned'),
      failed: count('failed'),
    },
    configurations: null,
    best,
    createdAt: study.createdAt,
    changedAt: timeAt(10 * Math.ceil(trials.length / 4) + 8),
    isHere: true,
  };
}

const large: Partial<Study> = {
  space: {
    weightDecay: { kind: 'log', low: 1e-5, high: 30 },
    learningRate: { kind: 'log', low: 1e-4, high: 1 },
    units: { kind: 'int', low: 16, high: 256, step: 16 },
    activation: { kind: 'choice', choices: ['relu', 'tanh', 'gelu'] },
    dropout: { kind: 'float', low: 0, high: 0.5 },
    momentum: { kind: 'float', low: 0, high: 0.99, when: { path: 'activation', equals: ['relu', 'tanh'] } },
  },
  objectives: [
    { metric: 'nll', kind: 'ensemble', direction: 'minimize' },
    { metric: 'nll', kind: 'mean-member', direction: 'minimize' },
  ],
};

/** A study as a user may have it: all states, two objectives, four devices, a parameter with a condition; from a seed. */
export function largeView(count: number, seed: number): StudyView {
  const generator = new Generator(seed, 'test/studies');
  const space = orderSpace(studyOf(large).space);
  const trials = Array.from({ length: count }, (_, number): StudyTrial => {
    const question = { space, directions: ['minimize'] as const, seed, trials: [], number };
    return largeTrial(number, count, suggestQuasiRandom(question), generator);
  });
  return viewOf(trials, large);
}

function largeTrial(number: number, count: number, values: StudyTrial['values'], generator: Generator): StudyTrial {
  const decay = Math.log10(Number(values.weightDecay));
  const rate = Math.log10(Number(values.learningRate));
  const member = 0.5 + 0.03 * (decay + 0.5) ** 2 + 0.04 * (rate + 1.5) ** 2 + 0.02 * generator.uniform();
  const ensemble = member - 0.05 + 0.01 * (decay + 0.8);
  const state = stateOf(number, count, generator.uniform());
  const steps = state === 'pruned' ? 4 : state === 'failed' ? 2 : 12;
  const reports = Array.from({ length: steps }, (_, step) => ({ step: step + 1, value: ensemble + 0.5 / (step + 1) }));
  const from = 10 * Math.floor(number / 4);
  const isEnded = state !== 'running';
  const score = { metric: 'nll', ensemble, ensembleError: 0.005, meanMember: member, meanMemberError: 0.01 };
  return trialOf(number, {
    state,
    values,
    reports,
    objectives: state === 'complete' ? [ensemble, member] : null,
    standardErrors: state === 'complete' ? [0.005, 0.01] : null,
    scores: state === 'complete' ? [score] : [],
    runs: [
      {
        part: { split: 0, seed: 0 },
        run: `run-${number}`,
        ranks: null,
        devices: [`cpu:${number % 4}`],
        startedAt: timeAt(from),
        endedAt: isEnded ? timeAt(from + 5 + 4 * generator.uniform()) : null,
        scores: [],
      },
    ],
    startedAt: timeAt(from),
    endedAt: isEnded ? timeAt(from + 9) : null,
    error: state === 'failed' ? 'Rank 1 on cpu:1: the loss is NaN at epoch 2.\nLower the learning rate.' : null,
  });
}

function stateOf(number: number, count: number, draw: number): StudyTrial['state'] {
  if (number >= count - 3) return 'running';
  if (draw < 0.05) return 'failed';
  return draw < 0.25 ? 'pruned' : draw < 0.28 ? 'paused' : 'complete';
}
