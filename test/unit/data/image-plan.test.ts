import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ImagePlan, planImages, plannedCounts } from '../../../core/preprocessing/plans/image-plan.ts';
import type { ImageProfile } from '../../../core/preprocessing/image-profile.ts';
import { plannedSource } from '../../../core/preprocessing/plans/project-source.ts';
import { profileTable } from '../../../workers/data/tables/profile-table.ts';
import { root } from '../docs/code-blocks.ts';
import { typeErrors } from '../docs/type-errors.ts';
import { temporaryFolder } from './temp-folder.ts';

const splits = [
  { split: 'train' as const, folder: 'Training', images: 40 },
  { split: 'test' as const, folder: 'Testing', images: 10 },
];

/** 12-bit images of 30 × 50 pixels in folders of splits. */
function imageProfile(channels: string): ImageProfile {
  const size: [number, number] = [30, 50];
  const none = { cmyk: 0, alpha: 0, palette: 0, turned: 0, paged: 0, misnamed: [], unreadable: [], unreadableCount: 0 };
  return {
    kind: 'images',
    folder: 'd',
    table: null,
    bytes: 1,
    splits,
    ...none,
    leftOut: [],
    findings: [],
    classes: ['cat', 'dog'].map((name) => ({ name, train: 20, validation: 0, test: 5 })),
    sizes: { smallest: size, median: size, largest: size, distinct: 1 },
    formats: { png: 50 },
    channels: { [channels]: 50 },
    depths: { ushort: 50 },
    maximum: 4095,
    largestValue: 4000,
  };
}

/** Projects of a table that names images: one that classifies, and one that predicts a number. */
async function imageTablePlans(): Promise<ImagePlan[]> {
  const file = join(await temporaryFolder(), 'd.csv');
  await writeFile(
    file,
    [
      'photo,kind,age,part,who',
      ...Array.from(
        { length: 50 },
        (_, i) => `${i}.png,${'ab'[i % 2]},${i * 1.5},${i < 40 ? 'train' : 'test'},w${i % 9}`,
      ),
    ].join('\n'),
  );
  return Promise.all(
    ['kind', 'age'].map(async (target) => {
      const table = {
        profile: await profileTable(file, { target }),
        column: 'photo',
        splitColumn: 'part',
        folders: ['.'],
        problems: [{ reason: 'missing' as const, count: 1, examples: [] }],
      };
      const classes = target === 'kind' ? imageProfile('3').classes : [];
      const given = [
        { split: 'train' as const, folder: 'train', images: 40 },
        { split: 'test' as const, folder: 'test', images: 10 },
      ];
      const profile = { ...imageProfile('3'), folder: 'images', table, classes, splits: given, largestValue: null };
      return planImages(profile, { roles: { who: 'group' } });
    }),
  );
}

describe('a project from a table of images', () => {
  it('has the columns, folder and splits as options, and the outputs of its task', async () => {
    const [kinds, ages] = await imageTablePlans();
    expect([kinds.task, ages.task, kinds.isMirrored, ages.isMirrored]).toEqual([
      'classification',
      'heteroscedastic-regression',
      true,
      false,
    ]);
    expect(kinds.decisions).toEqual(
      expect.arrayContaining([
        'Predicts "kind" of the images that "photo" names: as you say.',
        'Leaves out "age": the networks see the images alone.',
        'A fifth of the training images for validation, those of one "who" in one split.',
      ]),
    );
    // A fifth of the 40 training images validates; a column gives the test.
    expect(plannedCounts(kinds)).toEqual({ train: 32, validation: 8, test: 10 });
    const source = plannedSource(ages, 'd.csv', 'Ages');
    for (const line of [
      "description: 'The mean and the variance of age from an image.',",
      "        kind: 'ignore',",
      "      path: 'photo',",
      "      folder: 'images',",
      "      target: 'age',",
      "      targetKind: 'values',",
      "      split: { column: 'part', train: 'train', test: 'test' },",
      "      group: 'who',",
      "      unusableRows: 'drop',",
      'outputs: [mean, variance]',
    ]) {
      expect(source).toContain(line);
    }
    expect(source).not.toContain('fold,');
  });
});

describe('a project from images', () => {
  it('has the options of what was found, and draws only the split that has no folder', () => {
    const source = plannedSource(planImages(imageProfile('1')), 'd', 'Pets');
    for (const option of [
      'size: [24, 24]',
      'channels: 1',
      'maximum: 4095',
      "splitFolders: { train: 'Training', test: 'Testing' }",
      'validation: 0.2',
      'cropPadding: 3, horizontalFlip: true',
    ]) {
      expect(source).toContain(option);
    }
    expect(source).not.toMatch(/test: 0|fold\b/);
  });

  it('is not mirrored where the classes are digits, and refused with one class', () => {
    const profile = imageProfile('3');
    const digits = ['6', '9'].map((name) => ({ name, train: 20, validation: 0, test: 5 }));
    const source = plannedSource(planImages({ ...profile, classes: digits }), 'd', 'Digits');
    expect(source).not.toContain('horizontalFlip');
    expect(() => planImages({ ...profile, classes: digits.slice(1) })).toThrow('d has one class only, 9.');
  });
});

it('has no errors of types', { timeout: 300_000 }, async () => {
  const sources: [string, string][] = [];
  for (const channels of ['1', '3']) {
    const source = plannedSource(planImages(imageProfile(channels)), `it's "d"`, `A 'name'`);
    sources.push([join(root, 'docs', `planned-images-${channels}.ts`), source]);
  }
  for (const [i, plan] of (await imageTablePlans()).entries()) {
    sources.push([join(root, 'docs', `planned-image-table-${i}.ts`), plannedSource(plan, 'd.csv', 'x')]);
  }
  expect(typeErrors(new Map(sources))).toEqual([]);
});
