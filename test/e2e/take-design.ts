import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import sharp from 'sharp';
import type { Stage } from './stage.ts';
import { openDesign, referenceOf, sections, takeSection, themes } from './support/design-pictures.ts';

/** Replaces the references of the design page's test. */
export async function takeDesign(stage: Stage): Promise<void> {
  const page = await stage.openPage();
  for (const theme of themes) {
    await openDesign(page, theme);
    for (const section of sections) {
      const path = referenceOf(section, theme);
      await mkdir(dirname(path), { recursive: true });
      const png = sharp(await takeSection(page, section)).png();
      await writeFile(path, await png.toBuffer());
    }
  }
}
