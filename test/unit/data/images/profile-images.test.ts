import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { profileText } from '../../../../core/preprocessing/profile-text.ts';
import {
  answered,
  type FileProfile,
  fileProfileSchema,
  type InspectTask,
  type ReadingOptions,
} from '../../../../core/protocol/run/inspect-task.ts';
import { inspectData } from '../../../../src-main/creation/inspect-data.ts';
import { EqualImages } from '../../../../workers/data/images/equal-images.ts';
import { imageFolder } from '../../../../workers/data/images/image-splits.ts';
import { profileImages, profileNamedImages } from '../../../../workers/data/images/profile-images.ts';
import { inspectTable } from '../../../../workers/data/tables/profile-table.ts';
import { temporaryFolder } from '../temp-folder.ts';
import { tiff } from './tiff.ts';

const picture = (height: number, width: number, channels: 3 | 4 = 3) =>
  sharp(Buffer.alloc(height * width * channels, 90), { raw: { width, height, channels } });

async function folderOf(files: Readonly<Record<string, Buffer | string>>): Promise<string> {
  const folder = await temporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

it('counts what a tree as people download it holds, and names every file that is left out', async () => {
  const plain = await picture(2, 4).png().toBuffer();
  const folder = await folderOf({
    'seg_train/seg_train/10/a.png': plain,
    'seg_train/seg_train/2/a.png': await picture(6, 6).png().toBuffer(),
    'seg_train/seg_train/2/b.jpg': await picture(3, 1).webp().toBuffer(),
    'seg_train/seg_train/2/c.jpg': await picture(5, 4).withMetadata({ orientation: 6 }).jpeg().toBuffer(),
    'seg_train/seg_train/2/d.png': await picture(6, 6, 4).png().toBuffer(),
    'seg_train/seg_train/2/e.png': plain.subarray(0, plain.length - 20),
    'seg_train/seg_train/2/._a.jpg': 'x',
    'seg_train/seg_train/2/Thumbs.db': 'x',
    'seg_test/seg_test/2/a.png': plain,
    'seg_pred/seg_pred/a.png': plain,
    '__MACOSX/seg_train/._a.jpg': 'x',
  });
  const profile = await inspectData({ path: folder, reading: {} });
  expect(fileProfileSchema.parse(profile)).toMatchObject({
    kind: 'images',
    splits: [
      { split: 'train', folder: join('seg_train', 'seg_train'), images: 6 },
      { split: 'test', folder: join('seg_test', 'seg_test'), images: 1 },
    ],
    classes: [
      { name: '2', train: 5, validation: 0, test: 1 },
      { name: '10', train: 1, validation: 0, test: 0 },
    ],
    // By pixels: 3, 8, 8, 8, 20 (turned), 36, 36.
    sizes: { smallest: [3, 1], median: [2, 4], largest: [6, 6], distinct: 4 },
    formats: { png: 5, jpeg: 1, webp: 1 },
    channels: { '3': 6, '4': 1 },
    depths: { uchar: 7 },
    alpha: 1,
    turned: 1,
    paged: 0,
    misnamed: [`${join('seg_train', 'seg_train', '2', 'b.jpg')} (webp)`],
    unreadable: [{ file: join('seg_train', 'seg_train', '2', 'e.png') }],
    unreadableCount: 1,
    largestValue: null,
  });
  const { leftOut } = profile.kind === 'images' ? profile : { leftOut: [] };
  expect(leftOut.map(({ ending, reason, count }) => `${count} ${ending} ${reason}`).toSorted()).toEqual([
    '1 .db hidden',
    '1 .png place',
    '2 .jpg hidden',
  ]);
  const text = profileText(profile);
  expect(text).toContain('7 images of 2 classes');
  expect(text).toContain('warning: The test split lacks "10".');
  expect(text).toContain('warning: 1 of the images cannot be read, which ends training');
}, 60_000);

it('warns of images that lie in several splits or classes, and of folders in those of classes', async () => {
  const [one, other, third] = await Promise.all([2, 3, 4].map((size) => picture(size, size).png().toBuffer()));
  const folder = await folderOf({
    'train/animal/cat/1.png': one,
    'train/animal/dog/2.png': other,
    'train/thing/3.png': third,
    'train/thing/4.png': other,
    'test/animal/5.png': one,
    'test/thing/6.png': await picture(5, 5).png().toBuffer(),
  });
  const { findings } = await profileImages(folder);
  const messageOf = (kind: string) => findings.find((finding) => finding.kind === kind)?.message;
  expect(messageOf('duplicates')).toContain(
    `2 images repeat another one, such as ${join('test', 'animal', '5.png')} and ` +
      `${join('train', 'animal', 'cat', '1.png')}. Images that occur several times: 1 in several splits and 1 in several classes.`,
  );
  expect(messageOf('subfolders')).toContain('Classes have folders of their own: animal (cat, dog).');
  const plain = await profileImages(await folderOf({ 'a/1.png': one, 'b/2.png': other }));
  expect(plain.findings.filter(({ kind }) => kind === 'duplicates' || kind === 'subfolders')).toEqual([]);
});

it('names the same copies whichever image is read first', () => {
  const files = ['a/1.png', 'a/2.png', 'b/1.png', 'b/2.png'];
  const places = files.map((file) => ({ file, split: 'all', label: file[0] }));
  for (const order of [files, files.toReversed()]) {
    const equal = new EqualImages();
    for (const file of order) equal.add(file, Buffer.from(file.slice(2)));
    expect(equal.findings(places)[0].message).toContain('2 images repeat another one, such as a/1.png and b/1.png.');
  }
});

it('asks for the largest value where 16 bits hold numbers of 12, unless it is known', async () => {
  const [dark, light] = [tiff(Uint16Array.of(3, 70)), tiff(Uint16Array.of(5, 4000))];
  const folder = await folderOf({ 'a/0.tif': dark, 'b/0.tif': light });
  const { findings, largestValue, depths } = await profileImages(folder);
  expect([largestValue, depths]).toEqual([4000, { ushort: 2 }]);
  expect(findings[0]).toMatchObject({ level: 'question', kind: 'depth', choices: ['4095', '65535'] });
  const known = await profileImages(folder, { maximum: 4095 });
  expect([known.maximum, known.findings.filter(({ level }) => level === 'question')]).toEqual([4095, []]);
});

it('refuses a maximum that the images cannot have', async () => {
  const plain = await picture(1, 1).png().toBuffer();
  const bytes = await folderOf({ 'a/0.png': plain, 'b/0.png': plain });
  await expect(profileImages(bytes, { maximum: 4095 })).rejects.toThrow(
    'have 8 bits a value, so maximum: 4095 has no effect. Leave it out.',
  );
  const deep = await folderOf({ 'a/0.tif': tiff(Uint16Array.of(3, 70)), 'b/0.tif': tiff(Uint16Array.of(5, 4000)) });
  await expect(profileImages(deep, { maximum: 65_536 })).rejects.toThrow(
    'have 16 bits a value, so that none can be above 65535, but there is maximum: 65536. Give at most 65535.',
  );
  await expect(profileImages(deep, { maximum: 1023 })).rejects.toThrow(
    'have values up to 4000, but there is maximum: 1023. Give a larger one.',
  );
});

describe('folders whose names are nearly those of splits', () => {
  const plain = picture(1, 1).png().toBuffer();
  const treeOf = async (...folders: string[]) =>
    folderOf(Object.fromEntries(await Promise.all(folders.map(async (own) => [`${own}/0.png`, await plain]))));
  const split = (name: string) => [`${name}/cat`, `${name}/dog`];
  const splitsOf = (profile: Awaited<ReturnType<typeof profileImages>>) =>
    profile.splits.map((own) => `${own.folder}=${own.split}`);
  const questionsOf = (profile: Awaited<ReturnType<typeof profileImages>>) =>
    profile.findings.flatMap(({ level, column, choices }) => (level === 'question' ? [[column, choices?.[0]]] : []));

  it.each([
    ['tests', 'test'],
    ['validate', 'validation'],
    ['train_v2', 'train'],
    ['trainning', 'train'],
    ['evaluation', 'validation'],
    ['test_old', 'test'],
  ])('are asked about: %s is assumed to be %s', async (name, assumed) => {
    const tree = await treeOf(...split(assumed === 'train' ? 'test' : 'train'), ...split(name));
    const asked = await profileImages(tree);
    expect(questionsOf(asked)).toEqual([[name, assumed]]);
    expect(asked.classes.map((own) => own.name)).toEqual(['cat', 'dog']);
    const answered = await profileImages(tree, { splitFolders: { [name]: assumed as 'test' } });
    expect([questionsOf(answered), splitsOf(answered)]).toEqual([[], splitsOf(asked)]);
    await expect(imageFolder(tree, { size: [1, 1], seed: 1 })).rejects.toThrow(
      `${name} is nearly the usual name of a split. Name the splits with splitFolders`,
    );
  });

  it('are classes or left out if the user says so', async () => {
    const classes = await profileImages(await treeOf(...split('trains'), ...split('planes')), {
      splitFolders: { trains: 'none', planes: 'none' },
    });
    expect([classes.classes.map(({ name }) => name), questionsOf(classes)]).toEqual([['planes', 'trains'], []]);
    const beside = await profileImages(await treeOf(...split('train'), ...split('test'), ...split('tests')), {
      splitFolders: { tests: 'none' },
    });
    expect([splitsOf(beside), questionsOf(beside)]).toEqual([['train=train', 'test=test'], []]);
  });

  it('may be in another language, twice, or beside a folder of another kind', async () => {
    const spanish = await treeOf(...split('Entrenamiento'), ...split('Prueba'));
    expect(questionsOf(await profileImages(spanish))).toEqual([
      ['Entrenamiento', 'none'],
      ['Prueba', 'none'],
    ]);
    const half = await profileImages(spanish, { splitFolders: { Entrenamiento: 'train' } });
    expect(questionsOf(half)).toEqual([['Prueba', 'none']]);
    const said = await profileImages(spanish, { splitFolders: { Entrenamiento: 'train', Prueba: 'test' } });
    expect(splitsOf(said)).toEqual(['Entrenamiento=train', 'Prueba=test']);
    await expect(profileImages(spanish, { splitFolders: { Entrenamiento: 'none', Prueba: 'test' } })).rejects.toThrow(
      /No folder of .* is to be the training split\./,
    );
    await expect(profileImages(spanish, { splitFolders: { Test: 'test' } })).rejects.toThrow(
      'has no subfolder "Test", which is to be a split or none. It has: Entrenamiento, Prueba.',
    );
    const twice = await treeOf(...split('train'), ...split('val'), ...split('valid'));
    expect(questionsOf(await profileImages(twice))).toEqual([
      ['val', 'validation'],
      ['valid', 'validation'],
    ]);
    await expect(profileImages(twice, { splitFolders: { val: 'validation', valid: 'validation' } })).rejects.toThrow(
      'val, valid are all to be the validation split. Choose one of them.',
    );
    const beside = await treeOf(...split('train'), 'unlabelled');
    expect(questionsOf(await profileImages(beside))).toEqual([['train', 'train']]);
    expect(splitsOf(await profileImages(beside, { splitFolders: { train: 'train' } }))).toEqual(['train=train']);
    const none = await profileImages(beside, { splitFolders: { train: 'none' } });
    expect(none.classes.map(({ name }) => name)).toEqual(['train', 'unlabelled']);
  });

  it('are classes without a question where they hold images, or no class is alike', async () => {
    const flat = await profileImages(await treeOf('tests', 'trains', 'validate'));
    expect([flat.classes.map(({ name }) => name), questionsOf(flat)]).toEqual([['tests', 'trains', 'validate'], []]);
  });

  it('are left out where they have images alone beside training images with classes, as in competitions', async () => {
    const tree = await treeOf(...split('train'), 'test');
    const profile = await profileImages(tree);
    expect([splitsOf(profile), questionsOf(profile)]).toEqual([['train=train'], []]);
    expect(profile.leftOut).toEqual([{ ending: '.png', reason: 'place', count: 1, examples: [join('test', '0.png')] }]);
    // Without classes anywhere, nothing can be learned.
    await expect(profileImages(await treeOf('train', 'test'))).rejects.toThrow('train has no subfolders');
  });
});

describe('a table of images', () => {
  const png = picture(9, 12).png().toBuffer();
  /** As the process that inspects does. */
  async function inspect(
    folder: string,
    { reading = {}, ...columns }: Partial<InspectTask> = {},
  ): Promise<FileProfile> {
    const file = join(folder, 'labels.csv');
    const { maximum, splitFolders, images = folder, ...written } = reading;
    const table = await inspectTable(file, { ...columns, ...written }, () => undefined);
    const about = { file, images, isSaid: columns.image !== undefined, maximum, splitFolders };
    return (await profileNamedImages(table, about)) ?? table.profile;
  }
  const messagesOf = ({ findings }: FileProfile): string[] =>
    findings.map(({ level, message }) => `${level}: ${message}`);

  it('is counted by class and split, with all that its rows and files lack', async () => {
    const image = await png;
    const folder = await folderOf({
      'labels.csv': [
        'photo,kind,part,age',
        'a.png,oak,train,1',
        'b,oak,train,2',
        'sub/c.png,ash,train,3',
        'sub/d.png,ash,val,4',
        'gone.png,ash,train,5',
        'a.png,oak,train,6',
        'e.png,oak,train,7',
        'e.png,ash,train,8',
        'f.png,,train,9',
        'g.png,ash,val,10',
      ].join('\n'),
      ...Object.fromEntries(['a', 'b', 'sub/c', 'sub/d', 'e', 'f', 'spare'].map((name) => [`${name}.png`, image])),
      'g.png': image.subarray(0, image.length - 20),
      'notes.txt': 'x',
      'old/project.ts': 'x',
      'old/images/b.png': image,
    });
    // "b" has no ending, so that the user says which column names images.
    const profile = await inspect(folder, { image: 'photo', reading: { columns: { photo: 'category' } } });
    expect(fileProfileSchema.parse(profile)).toMatchObject({
      kind: 'images',
      folder: 'images',
      table: { column: 'photo', splitColumn: 'part', folders: ['.', 'sub'], profile: { target: { name: 'kind' } } },
      splits: [
        { split: 'train', folder: 'train', images: 3 },
        { split: 'validation', folder: 'val', images: 2 },
      ],
      classes: [
        { name: 'ash', train: 1, validation: 2, test: 0 },
        { name: 'oak', train: 2, validation: 0, test: 0 },
      ],
      unreadableCount: 1,
      leftOut: [{ ending: '.png', reason: 'row', count: 1, examples: ['spare.png'] }],
    });
    expect(messagesOf(profile)).toEqual(
      expect.arrayContaining([
        expect.stringContaining(
          'warning: 1 row names an image that is not there ("gone.png" in row 5). Left out. Correct',
        ),
        expect.stringContaining(
          'warning: 2 rows contradict another row of their image ("e.png" in row 7, "e.png" in row 8).',
        ),
        expect.stringContaining('warning: 1 row has no name of an image, or no target ("kind" in row 9). Left out.'),
        'note: 1 row names the image of an earlier row ("a.png" in row 6). Each image counts once.',
        'note: "part" gives the splits: train (train), val (validation).',
        'warning: Left out: 1 .png (named by no row: spare.png).',
        expect.stringContaining('warning: 1 of the images cannot be read, which ends training: g.png.'),
      ]),
    );
    expect(profileText(profile)).toContain('labels.csv: 5 images of 2 classes.');
  });

  it('has its images in another folder, or is a table with a finding', async () => {
    const folder = await folderOf({
      'data/labels.csv': ['photo,age', ...[1, 2, 3, 4].map((i) => `p/${i}.png,${i / 2}`)].join('\n'),
      ...Object.fromEntries(await Promise.all([1, 2, 3, 4].map(async (i) => [`p/${i}.png`, await png] as const))),
      'other/empty/x.txt': 'x',
    });
    const path = join(folder, 'data', 'labels.csv');
    const alone = await inspect(join(folder, 'data'));
    expect([alone.kind, messagesOf(alone)]).toEqual([
      'table',
      expect.arrayContaining([
        expect.stringContaining('warning: "photo" names images, such as "p/1.png", none of which is beside the table.'),
      ]),
    ]);
    const found = await inspectData({ path, reading: { images: join(folder, 'p') } });
    // Values have no classes.
    expect(found).toMatchObject({
      kind: 'images',
      folder: 'p',
      classes: [],
      table: { folders: ['.'], splitColumn: null },
    });
    await expect(
      inspect(join(folder, 'data'), { reading: { images: join(folder, 'other', 'empty') } }),
    ).rejects.toThrow(/empty has no image that "photo" of labels.csv names, such as "p\/1.png"/);
    await expect(inspect(join(folder, 'data'), { image: 'photo' })).rejects.toThrow('has no image that "photo"');
  });

  it('asks what values of a column of splits mean that are no usual names', async () => {
    const image = await png;
    const folder = await folderOf({
      'labels.csv': [
        'photo,kind,part',
        ...[0, 1, 2, 3].map((i) => `${i}.png,${'ab'[i % 2]},${i < 2 ? 'fit' : 'check'}`),
      ].join('\n'),
      ...Object.fromEntries([0, 1, 2, 3].map((i) => [`${i}.png`, image])),
    });
    const asked = await inspect(folder, { split: 'part' });
    const questions = asked.findings.filter(({ level }) => level === 'question');
    expect(questions.map(({ column, choices }) => [column, choices?.[0]])).toEqual([
      ['check', 'none'],
      ['fit', 'none'],
    ]);
    const reading = questions.reduce<ReadingOptions>(
      (own, finding) => answered(own, { finding, profile: asked }, finding.column === 'fit' ? 'train' : 'test'),
      {},
    );
    const profile = await inspect(folder, { split: 'part', reading });
    expect(profile.kind === 'images' && profile.splits).toEqual([
      { split: 'train', folder: 'fit', images: 2 },
      { split: 'test', folder: 'check', images: 2 },
    ]);
    await expect(
      inspect(folder, { split: 'part', reading: { splitFolders: { fit: 'none', check: 'test' } } }),
    ).rejects.toThrow('No value of "part" is that of the training split.');
  });
});
