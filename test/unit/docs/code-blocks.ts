import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../../..');

/** A block of TypeScript in a page, with the line at which its code begins. */
export interface CodeBlock {
  page: string;
  line: number;
  code: string;
}

/** The blocks of TypeScript in the README and the docs that import the library, so that they are whole files. */
export function completeBlocks(): CodeBlock[] {
  return ['README.md', ...globSync('docs/**/*.md', { cwd: root }).sort()]
    .filter((page) => !page.startsWith(join('docs', 'api')))
    .flatMap((page) => blocksOf(page))
    .filter(({ code }) => /from 'tutti-ensembles(?:\/browser)?';/.test(code));
}

/** Of these, the projects. */
export const projectBlocks = (): CodeBlock[] =>
  completeBlocks().filter(({ code }) => code.includes('export default defineProject({'));

function blocksOf(page: string): CodeBlock[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => ({
    page,
    line: text.slice(0, match.index).split('\n').length + 1,
    code: match[1],
  }));
}
