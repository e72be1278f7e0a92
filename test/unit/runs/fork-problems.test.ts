import { describe, expect, it } from 'vitest';
import type { ForkPoint } from '../../../core/protocol/history/history.ts';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { findForkProblems, forkErrorOf } from '../../../src-main/hub/fork-problems.ts';
import { parseConfig } from '../../../src-main/runs/configuration/resolve-config.ts';
import { placementOf, recordOf } from '../cli/records.ts';

/** Problems of a fork at epoch 4, step 12. */
function problemsOf(kind: ForkPoint['kind'], options: RunConfigInput, waves: readonly number[]) {
  const point: ForkPoint = { name: 'round-4', kind, attempt: 1, epoch: 3, step: 12, savedAt: '' };
  const record = recordOf({}, { id: 'run-1' });
  const config = parseConfig(options);
  const basis = { source: { folder: '/run', record }, point, config, changed: {}, start: { epoch: 4, step: 12 } };
  return findForkProblems(
    basis,
    config,
    waves.map((wave, rank) => placementOf(rank, wave)),
  ).map((problem) => ({
    path: problem.path,
    message: forkErrorOf(problem).message,
  }));
}

describe('a fork that would train in waves', () => {
  it('cannot begin at the state of all ranks', () => {
    expect(problemsOf('state', { maxEpochs: 9 }, [0, 1])).toEqual([
      {
        path: 'devices',
        message:
          'The state round-4 is one of all ranks, but with this configuration they train in 2 waves. ' +
          'Fork from a checkpoint, or use as many devices as before.',
      },
    ]);
    expect(problemsOf('state', { maxEpochs: 9 }, [0, 0])).toEqual([]);
  });

  it('can begin at a checkpoint', () => {
    expect(problemsOf('checkpoint', { maxEpochs: 9 }, [0, 1])).toEqual([]);
  });
});

it.each([
  [{ maxEpochs: 4 }, 'maxEpochs', 'has nothing left to train. To train it further: --set maxEpochs=8'],
  [{ maxEpochs: 9, maxSteps: 12 }, 'maxSteps', 'has nothing left to train. To train it further: --set maxSteps=24'],
] as const)('a fork that would do no step is refused (%o)', (options, path, end) => {
  const message = `A fork of run-1 at round-4 ${end}`;
  expect(problemsOf('checkpoint', options, [0])).toEqual([{ path, message }]);
});
