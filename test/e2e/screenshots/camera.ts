import { mkdir, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Page } from '@playwright/test';
import { visit } from '../stage.ts';
import { expect } from '../support/expect.ts';
import { layOut } from './sheet.ts';

/** A state of a page of which pictures are taken. */
export interface Shot {
  name: string;
  /** Undefined: the page is open already. */
  address?: string;
  prepare: () => Promise<void>;
  /** Done at each size of the window, for what closes when the size changes. */
  open?: () => Promise<void>;
  /** Whether the picture shows what the page shows before its data arrive. */
  isLoading?: boolean;
}

const themes = ['light', 'dark'] as const;
/** A phone, a narrow window and a usual one; the last is also kept as a picture for the documentation. */
const windows = [
  { width: 390, height: 844 },
  { width: 900, height: 1200 },
  { width: 1440, height: 1200 },
];
const usual = { width: 1440, height: 900 };
const sheetScale = 0.7;
const maximumBytes = 450_000;

/** Takes pictures of pages in both themes at three widths, without the paths of this machine. */
export class Camera {
  readonly #page: Page;
  readonly #folder: string;
  /** Texts of this machine, and what pictures show instead. */
  readonly #replacements: Record<string, string>;
  /** Pages whose picture at the usual size the documentation shows. */
  readonly #shown: ReadonlySet<string>;

  constructor(page: Page, folder: string, replacements: Record<string, string>, shown: readonly string[]) {
    this.#page = page;
    this.#folder = folder;
    this.#replacements = replacements;
    this.#shown = new Set(shown);
  }

  async take({ name, address, prepare, open, isLoading = false }: Shot): Promise<void> {
    await this.#page.setViewportSize(usual);
    if (address !== undefined) await visit(this.#page, address);
    await prepare();
    await open?.();
    if (this.#shown.has(name)) await this.#takeUsual(name);
    const rows: Buffer[][] = themes.map(() => []);
    for (const size of windows) {
      await this.#page.setViewportSize(size);
      await open?.();
      for (const [row, theme] of themes.entries()) rows[row].push(await this.#look(theme, isLoading));
    }
    await this.#keep(`${name}.webp`, await layOut(rows, sheetScale));
  }

  async #takeUsual(name: string): Promise<void> {
    for (const theme of themes) await this.#keep(`${name}-${theme}.png`, await this.#look(theme));
  }

  async #look(theme: (typeof themes)[number], isLoading = false): Promise<Buffer> {
    await this.#page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
    if (!isLoading) await expect(this.#page.locator('.skeleton, [aria-busy=true]')).toHaveCount(0);
    // Charts are drawn in the frame after the one in which they learn their size.
    await this.#page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))',
    );
    await replaceTexts(this.#page, this.#replacements);
    return await this.#page.screenshot({ animations: 'disabled', caret: 'hide' });
  }

  async #keep(name: string, picture: Buffer): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    const path = join(this.#folder, name);
    await writeFile(path, picture);
    const { size } = await stat(path);
    if (size > maximumBytes) console.warn(`${basename(path)} has ${size} bytes, more than ${maximumBytes}.`);
  }
}

export async function replaceTexts(page: Page, replacements: Record<string, string>): Promise<void> {
  await page.locator('body').evaluate((body, replacements) => {
    const showTexts = 4;
    const walker = body.ownerDocument.createTreeWalker(body, showTexts);
    while (walker.nextNode() !== null) {
      const node = walker.currentNode;
      for (const [text, other] of Object.entries(replacements)) {
        if (node.nodeValue?.includes(text) === true) node.nodeValue = node.nodeValue.replaceAll(text, other);
      }
    }
  }, replacements);
}
