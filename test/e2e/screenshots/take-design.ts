import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Page } from '@playwright/test';
import sharp from 'sharp';
import { openDesign, referenceOf, sections, takeSection, themes } from '../support/design-pictures.ts';

/** Replaces the references of the design page's test. */
export async function takeDesign(page: Page): Promise<void> {
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
