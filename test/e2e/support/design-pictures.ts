import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { visit } from '../stage.ts';
import { expect } from './expect.ts';

/** The pictures of the design page: one of each section in each theme. */

export const themes = ['light', 'dark'] as const;
export const sections = ['Type', 'Colours', 'Icons', 'Controls', 'Tables and elevation', 'States', 'Charts'] as const;
export type Section = (typeof sections)[number];

export function referenceOf(section: Section, theme: string): string {
  const name = section.toLowerCase().replaceAll(' ', '-');
  return join(import.meta.dirname, '..', 'design', `${name}-${theme}.png`);
}

/** Opens the design page in a theme, in a window in which nothing has to scroll. */
export async function openDesign(page: Page, theme: 'light' | 'dark'): Promise<void> {
  await page.setViewportSize({ width: 1200, height: 5000 });
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
  await visit(page, '/design');
  await expect(page.getByRole('cell', { name: 'enough' }).first()).toBeVisible();
  await expect(page.getByRole('img', { name: /^NLL of 16 members, / })).toBeVisible();
}

/** Texts in the system's monospace font, which differs between machines, are covered. */
export async function takeSection(page: Page, section: Section): Promise<Buffer> {
  const part = page.locator('section.part').filter({ has: page.getByRole('heading', { name: section, exact: true }) });
  return part.screenshot({ animations: 'disabled', caret: 'hide', mask: [part.locator('code, pre, .mono, kbd')] });
}
