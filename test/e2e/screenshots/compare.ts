import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { layOut, pictureAt } from './sheet.ts';

/** Pages that the dashboard had before its redesign. */
const pages = ['projects', 'configure', 'run-live', 'run-ensemble', 'run-checkpoints', 'runs', 'compare'];
const themes = ['light', 'dark'];
const scale = 0.6;

/** Lays the pictures of an earlier commit, left, beside the present ones. */
export async function compareWith(revision: string, root: string): Promise<void> {
  const folder = join(root, 'docs', 'screenshots', 'before-after');
  await mkdir(folder, { recursive: true });
  for (const name of pages) {
    const rows = await Promise.all(
      themes.map((theme) => rowOf(revision, root, `docs/screenshots/${name}-${theme}.png`)),
    );
    if (rows.some((row) => row.length < 2)) console.warn(`${revision} has no pictures of ${name}.`);
    else await writeFile(join(folder, `${name}.webp`), await layOut(rows, scale));
  }
}

async function rowOf(revision: string, root: string, path: string): Promise<Buffer[]> {
  await access(join(root, path));
  const [before, after] = [await pictureAt(revision, path, root), await readFile(join(root, path))];
  return before === null ? [after] : [before, after];
}
