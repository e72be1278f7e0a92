import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { anchorOf, findBrokenReferences } from '../../../scripts/doc-references.ts';

let root = '';

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'tutti-docs-'));
  for (const folder of ['docs', 'workers/strategies/hdet', 'node_modules/other']) {
    mkdirSync(path.join(root, folder), { recursive: true });
  }
  write('workers/strategies/hdet/controller.ts', 'export {};');
  write('package.json', '{ "scripts": { "docs": "true", "docs:site": "true" } }');
});

afterEach(() => rmSync(root, { recursive: true }));

function write(file: string, ...lines: string[]): void {
  writeFileSync(path.join(root, file), lines.join('\n'));
}

function places(): string[] {
  return findBrokenReferences(root).map(({ file, line }) => `${file}:${line}`);
}

describe('findBrokenReferences', () => {
  it('finds source paths in backticks that do not exist, given in full or as a suffix', () => {
    write(
      'docs/a.md',
      '`workers/strategies/hdet/controller.ts`, `hdet/controller.ts`, `controller.ts` and `strategies/hdet/`',
      '`workers/hdet/controller.ts`',
      '`strategies/joint/`',
      '`val/ens_nll`, `run.json`, `checkpoints/rank-<r>/`, `git clone` and `[M, B, K]` are no source paths',
      '```ts',
      "import './missing.ts'; // `missing.ts`",
      '```',
      'a file name in part: `troller.ts`',
    );
    expect(places()).toEqual(['docs/a.md:2', 'docs/a.md:3', 'docs/a.md:8']);
  });

  it('finds relative links to files and headings that do not exist', () => {
    write('README.md', '# Tutti', '[a](docs/a.md#two-words) [site](https://example.org/x) [here](#tutti)');
    write('docs/a.md', '# Two words', '[up](../README.md)', '[gone](b.md)', '[gone](#three)', '[folder](../workers)');
    expect(places()).toEqual(['docs/a.md:3', 'docs/a.md:4', 'docs/a.md:5']);
  });

  it('reads links from the root of the repository, as the page that the site moves to its start needs them', () => {
    write('docs/index.md', '[here](/docs/a.md#two-words)', '[gone](/a.md)');
    write('docs/a.md', '# Two words');
    expect(places()).toEqual(['docs/index.md:2']);
  });

  it('finds npm scripts that package.json does not have, in code too', () => {
    write(
      'docs/a.md',
      '`npm run docs` and `npm run doc`',
      '```sh',
      'npm run docs:site -- --open',
      'npm run gone',
      '```',
    );
    expect(places()).toEqual(['docs/a.md:1', 'docs/a.md:4']);
  });

  it('finds flags that no command, option or project has, and leaves those of other programs alone', () => {
    write('docs/commands.md', '| `-o, --out <folder>` | the folder |');
    write('docs/options.md', '| `--batch-size` | 128 |');
    write(
      'docs/a.md',
      '`--out` and `tutti train --batch-size 3`',
      '`--outt runs`',
      'npm run docs -- --open, `git log --oneline`',
      '```sh',
      'npx tutti train a --batch-size 3 --hidden-units 8 --gone 1 # --comment',
      'TUTTI_HOME=/a tutti train a --sbatch "--gpus=1" \\',
      '  --missing',
      '```',
      'hyperparameters: z.object({ hiddenUnits: z.int() })',
    );
    expect(places()).toEqual(['docs/a.md:2', 'docs/a.md:5', 'docs/a.md:6', 'docs/a.md:7']);
  });

  it('finds missing pages that sources name, and ignores packages', () => {
    write('docs/a.md', '# A');
    write('workers/b.ts', '/** See docs/a.md. */', '/** See docs/b.md. */');
    write('node_modules/other/c.md', '`gone/away.ts`');
    expect(places()).toEqual(['workers/b.ts:2']);
  });
});

describe('anchorOf', () => {
  // By hand, from the rule of repository hosts: lower case, punctuation dropped, each space a hyphen.
  it.each([
    ['Run folder, recovery, resume', 'run-folder-recovery-resume'],
    ['Ranks that diverge: `hdet`', 'ranks-that-diverge-hdet'],
    ['CPU / GPU', 'cpu--gpu'],
    ['run.json', 'runjson'],
    ['Gauß_2', 'gauß_2'],
  ])('%s -> %s', (heading, anchor) => expect(anchorOf(heading)).toBe(anchor));
});
