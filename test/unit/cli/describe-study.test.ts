import { expect, it } from 'vitest';
import { parseTrainArguments } from '../../../src-main/cli/arguments.ts';
import { describeBest } from '../../../src-main/cli/commands/studies/describe-study.ts';
import { runFlagsOf } from '../../../src-main/runs/configuration/run-flags.ts';

const summary = {
  id: 's1',
  name: 'study',
  project: 'Mine',
  projectFolder: '/home/me/my project',
  status: 'finished' as const,
  objectives: [{ metric: 'nll', kind: 'ensemble' as const, direction: 'minimize' as const }],
  trials: { wanted: 2, running: 0, paused: 0, complete: 2, pruned: 0, failed: 0 },
  configurations: null,
  best: {
    number: 1,
    values: { 'optimizer.weightDecay': 0.1 + 0.2, width: 8, sampler: 'shared' },
    objectives: [0.4],
    standardErrors: null,
  },
} as unknown as Parameters<typeof describeBest>[0];
const study = {
  project: { name: 'Mine', folder: '/home/me/my project' },
  overrides: {
    members: 3,
    optimizer: { kind: 'adamw', weightDecay: 1 },
    devices: ['cpu:0', 'cpu:1'],
    hyperparameters: { width: 4, layers: 2 },
  },
};

it('ends with the command that trains the winner: what all trials had, and the values that won, in full', () => {
  const command = describeBest(summary, study).at(-1) ?? '';
  expect(command).toBe(
    "To train it: npx tutti train '/home/me/my project' --set members=3 --set devices=cpu:0,cpu:1 " +
      '--set optimizer.kind=adamw --set optimizer.weightDecay=0.30000000000000004 --set sampler=shared ' +
      '--set width=8 --set layers=2',
  );
});

it('is a command that the terminal understands', () => {
  const words = (describeBest(summary, { ...study, overrides: { optimizer: { kind: 'adamw' } } }).at(-1) ?? '')
    .split("project' ")[1]
    .split(' ');
  // Without the project, which alone knows its width.
  expect(parseTrainArguments(words.slice(0, -2), runFlagsOf(null)).overrides).toEqual({
    optimizer: { kind: 'adamw', weightDecay: 0.1 + 0.2 },
    sampler: 'shared',
  });
});

it('names no command before a trial is complete', () => {
  expect(describeBest({ ...summary, best: null }, study).join(' ')).not.toContain('train');
});
