import { noPermissions } from '../../../core/protocol/run/permissions.ts';
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeOptions, type PlainObject } from '../../../core/options/index.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import { parseTrainArguments } from '../../../src-main/cli/arguments.ts';
import { runFlagsOf } from '../../../src-main/runs/configuration/run-flags.ts';
import { commandLine } from '../../../src-main/rpc/projects/command-line.ts';
import { resolveConfig } from '../../../src-main/runs/configuration/resolve-config.ts';

const hyperparameters = z.object({
  width: z.int().default(8),
  label: z.string().default('plain'),
  // A flag of this name sets the run's name.
  name: z.string().default('nobody'),
});

const project: ProjectDescription = {
  name: 'Blobs',
  description: '',
  task: 'classification',
  hasOwnLoss: false,
  permissions: noPermissions,
  hyperparameters: describeOptions(hyperparameters),
  defaults: { maxEpochs: 3, optimizer: { kind: 'sgd', learningRate: 0.5, momentum: 0.9 } },
};

/** The words of a command as a shell splits them. */
function shellWords(command: string): string[] {
  const words = execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' });
  return words.split('\0').slice(0, -1);
}

describe('commandLine', () => {
  it.each<[string, PlainObject]>([
    ['nothing', {}],
    ['a kind with its own defaults', { optimizer: { kind: 'adam' } }],
    ['a member of the kind that the project prefers', { optimizer: { momentum: 0 } }],
    ['devices in a list', { devices: [0, 2] }],
    ['devices by count', { devices: 2 }],
    ['a switch that is off', { checkpoints: { final: false } }],
    ['text with blanks and quotes', { hyperparameters: { label: `it's "wide" $HOME` } }],
    ['a hyperparameter whose flag is taken', { hyperparameters: { name: 'Ada' } }],
    ['several', { members: 4, schedule: { kind: 'cosine', warmupSteps: 5 }, hyperparameters: { width: 16 } }],
  ])('starts the same run from a terminal: %s', (_what, overrides) => {
    const config = resolveConfig(project, [overrides]);
    const request = { projectFolder: '/my projects/blobs', overrides, name: 'first run', out: '/my runs/1' };
    const [npx, tutti, train, folder, ...args] = shellWords(commandLine(project, request, config));
    expect([npx, tutti, train, folder]).toEqual(['npx', 'tutti', 'train', '/my projects/blobs']);
    const parsed = parseTrainArguments(args, runFlagsOf(project));
    expect([parsed.name, parsed.out]).toEqual(['first run', '/my runs/1']);
    expect(resolveConfig(project, [parsed.overrides])).toMatchObject({ ...config, devices: expect.anything() });
    expect(String(resolveConfig(project, [parsed.overrides]).devices)).toBe(String(config.devices));
  });

  it("omits values that equal the project's defaults", () => {
    const request = { projectFolder: 'blobs', overrides: { maxEpochs: 3 }, name: null, out: null };
    expect(commandLine(project, request, resolveConfig(project, [{ maxEpochs: 3 }]))).toBe('npx tutti train blobs');
  });
});
