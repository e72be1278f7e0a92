import type { Page } from '@playwright/test';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { notRun } from '../environment/reasons.ts';
import { Stage } from './stage.ts';
import { chromium, noChromium } from './support/browser.ts';
import { openDesign, referenceOf, sections, takeSection, themes } from './support/design-pictures.ts';
import { expect } from './support/expect.ts';
import { differenceFrom } from './support/picture.ts';

describe.skipIf(noChromium !== null)(`The design page${notRun(noChromium)}`, () => {
  let stage: Stage;
  let page: Page;

  beforeAll(async () => {
    stage = await Stage.open(chromium ?? '');
    page = await stage.openPage();
  });
  afterAll(() => stage.close());

  describe.each(themes)('with the %s theme', (theme) => {
    beforeAll(() => openDesign(page, theme));

    it('has enough contrast in every pair of colours', async () => {
      await expect(page.getByRole('cell', { name: 'too little' })).toHaveCount(0);
    });

    it.each(sections)('looks like its reference: %s', async (section) => {
      const taken = await takeSection(page, section);
      expect(await differenceFrom(referenceOf(section, theme), taken, `${section}-${theme}`)).toBeNull();
    });
  });
});
