import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { profileText } from '../../../../core/preprocessing/profile-text.ts';
import { fileProfileSchema } from '../../../../core/protocol/run/inspect-task.ts';
import { inspectData } from '../../../../src-main/creation/inspect-data.ts';
import { profileImages } from '../../../../workers/data/images/profile-images.ts';
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
    '1 .db ending',
    '1 .png place',
    '2 .jpg hidden',
  ]);
  const text = profileText(profile);
  expect(text).toContain('7 images of 2 classes');
  expect(text).toContain('warning: The test split lacks "10".');
  expect(text).toContain('warning: 1 of the images cannot be read, which ends training');
}, 60_000);

it('asks for the largest value where 16 bits hold numbers of 12, unless it is known', async () => {
  const [dark, light] = [tiff(Uint16Array.of(3, 70)), tiff(Uint16Array.of(5, 4000))];
  const folder = await folderOf({ 'a/0.tif': dark, 'b/0.tif': light });
  const { findings, largestValue, depths } = await profileImages(folder);
  expect([largestValue, depths]).toEqual([4000, { ushort: 2 }]);
  expect(findings[0]).toMatchObject({ level: 'question', kind: 'depth', choices: ['4095', '65535'] });
  const known = await profileImages(folder, { maximum: 4095 });
  expect([known.maximum, known.findings.filter(({ level }) => level === 'question')]).toEqual([4095, []]);
});
