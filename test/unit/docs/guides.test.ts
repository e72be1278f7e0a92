import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import type { Placement } from '../../../core/protocol/machine/devices.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import { noPermissions } from '../../../core/protocol/run/permissions.ts';
import { parseTrainArguments } from '../../../src-main/cli/arguments.ts';
import { refuseCombinations } from '../../../src-main/runs/configuration/combinations.ts';
import { resolveConfig } from '../../../src-main/runs/configuration/resolve-config.ts';
import { runFlagsOf } from '../../../src-main/runs/configuration/run-flags.ts';
import { coreDevice } from '../runs/core-device.ts';

const read = (path: string): string => readFileSync(resolve(import.meta.dirname, '../../..', path), 'utf8');

it.each([
  ['sequences', 'reversed'],
  ['custom', 'sensors'],
  ['labels', 'labels'],
])('the guide %s shows the project that the integration tests train', (guide, project) => {
  expect(read(`docs/guides/${guide}.md`)).toContain(
    `\`\`\`ts\n${read(`test/integration/projects/${project}/project.ts`)}\`\`\``,
  );
});

const project: ProjectDescription = {
  name: 'my-project',
  description: '',
  task: 'classification',
  hasOwnLoss: false,
  permissions: noPermissions,
  hyperparameters: [],
  defaults: {},
};
const commands = [...read('docs/guides/large-models.md').matchAll(/^npx tutti train my-project (.+)$/gm)].map(
  ([, flags]) => flags,
);

it('the guide to large models has commands', () => {
  expect(commands).toHaveLength(8);
});

it.each([
  ...commands,
  '--strategy data-parallel --strategy.learning-rate-scaling linear --strategy.scaling-warmup-steps 500',
])('the guide to large models names options that fit each other: %s', (flags) => {
  const { overrides } = parseTrainArguments(flags.split(' '), runFlagsOf(project));
  const config = resolveConfig(project, [overrides]);
  const plan = Array.from({ length: config.members }, (_, rank): Placement => ({ rank, wave: 0, device: coreDevice }));
  expect(() => refuseCombinations(config, plan, project)).not.toThrow();
});

/** The figures of docs/benchmarks.md under a heading, by subject and quantity. */
function measured(heading: string): Map<string, number> {
  const [, section = ''] = read('docs/benchmarks.md').split(`\n## ${heading}\n`);
  const rows = section.split('\n## ')[0].matchAll(/^\| (.+?) +\| (.+?) +\|/gm);
  const named = [...rows].flatMap(([, subject, values]) =>
    values.split('; ').map((value): [string, number] => {
      const [quantity, figure = ''] = value.split(': ');
      return [`${subject}: ${quantity}`, Number.parseFloat(figure)];
    }),
  );
  return new Map(named);
}

it('the guide to large models has the figures of the benchmarks', () => {
  const figures = measured('sharded');
  const rows = [...read('docs/guides/large-models.md').matchAll(/^\| `?([\w, -]+?)`? +\| (\d+) MiB.* \| (\d+) MiB/gm)];
  expect(rows.map(([, name]) => name)).toEqual([
    'data-parallel',
    'stage 1',
    'stage 2',
    'stage 3',
    'stage 3, weights and state as bfloat16',
    'stage 3, state in a file',
  ]);
  for (const [, name, two, four] of rows)
    expect([Number(two), Number(four)], name).toEqual(
      [2, 4].map((ranks) => figures.get(`${ranks} ranks, ${name}: heap of a rank's backend`)),
    );
});
