import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';

/** The rules of WCAG 2.2 AA that axe can check automatically, and its best practices, such as the order of headings. */
const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** A window in which a page is checked. */
interface Look {
  width: number;
  height: number;
  theme: 'light' | 'dark';
  /** Whether only what the theme changes is checked. */
  isColorOnly: boolean;
}

/** The widest and the narrowest layout with all rules in one theme, all with the colours of the other. */
const looks: readonly Look[] = [
  { width: 1440, height: 900, theme: 'light', isColorOnly: false },
  { width: 1440, height: 900, theme: 'dark', isColorOnly: true },
  { width: 900, height: 700, theme: 'dark', isColorOnly: true },
  { width: 390, height: 844, theme: 'light', isColorOnly: false },
  { width: 390, height: 844, theme: 'dark', isColorOnly: true },
];
/** A window of 1440 x 900 at 200 % zoom. */
const zoomed = { width: 720, height: 450 };

/** What axe finds in a page as it is, each with its place and remedy. */
export async function violationsIn(page: Page, isColorOnly = false): Promise<string[]> {
  // Otherwise each check opens another page, for frames of other origins, which there are none of.
  const axe = new AxeBuilder({ page }).setLegacyMode();
  const { violations } = await (isColorOnly ? axe.withRules(['color-contrast']) : axe.withTags(standards)).analyze();
  return violations
    .filter(({ impact, id }) => impact === 'serious' || impact === 'critical' || id === 'heading-order')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary ?? ''}`));
}

/**
 * What axe finds in a page at all widths in both themes, without loading it again; and whether it is too wide for a
 * window at 200 % zoom.
 */
export async function violationsInAllLooks(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const { width, height, theme, isColorOnly } of looks) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: theme });
    const violations = await violationsIn(page, isColorOnly);
    found.push(...violations.map((violation) => `${width} px, ${theme}: ${violation}`));
  }
  await page.setViewportSize(zoomed);
  const beyond = await page.locator('.page').evaluate((frame) => frame.scrollWidth - frame.clientWidth);
  if (beyond > 0) found.push(`at 200 % zoom the page is ${beyond} px wider than the window`);
  return found;
}
