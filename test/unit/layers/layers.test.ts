import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findLayerViolations } from '../../../scripts/layers.ts';

let root = '';

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'tutti-layers-'));
  for (const layer of ['core', 'src-main/runs', 'src-main/odd', 'src-renderer/views', 'workers']) {
    mkdirSync(path.join(root, layer), { recursive: true });
  }
});

afterEach(() => rmSync(root, { recursive: true }));

function write(file: string, ...lines: string[]): void {
  writeFileSync(path.join(root, file), lines.join('\n'));
}

function places(): string[] {
  return findLayerViolations(root).map(({ file, line }) => `${file}:${line}`);
}

describe('findLayerViolations', () => {
  it('allows layers to import themselves, core, packages and Node', () => {
    write('core/a.ts', "import { z } from 'zod';", "import './b.ts';", "export * from 'zod/v4';");
    write('src-main/runs/a.ts', "import '../../core/a.ts';", "import '../store/b.ts';", "import 'node:fs';");
    write('src-main/cli.ts', "import manifest from '../package.json' with { type: 'json' };", "import 'commander';");
    write('workers/a.ts', "import 'tutti-ensembles';", 'const project = await import(projectUrl);');
    expect(findLayerViolations(root)).toEqual([]);
  });

  it("keeps core/node, which imports Node's modules, from the page and from the rest of core", () => {
    for (const folder of ['core/node', 'core/options']) mkdirSync(path.join(root, folder));
    write(
      'core/node/a.ts',
      "import 'node:fs';",
      "import './b.ts';",
      "import '../options/c.ts';",
      "import 'commander';",
    );
    write('core/options/c.ts', "import '../node/b.ts';");
    write('src-renderer/views/a.ts', "import '../../core/node/a.ts';");
    write('src-main/runs/a.ts', "import '../../core/node/a.ts';");
    write('workers/a.ts', "import '../core/node/a.ts';");
    expect(places()).toEqual(['core/node/a.ts:4', 'core/options/c.ts:1', 'src-renderer/views/a.ts:1']);
  });

  it('lets files that get run folders open what lies in them in one way only', () => {
    mkdirSync(path.join(root, 'src-main/cli'));
    write(
      'src-main/runs/a.ts',
      "import { existsSync, type Stats } from 'node:fs';",
      "import { readFile, stat } from 'node:fs/promises';",
      "import type { FileHandle } from 'node:fs/promises';",
      "import * as fs from 'node:fs';",
      "import { renameOver, writeFileAtomic } from '../../core/node/atomic-file.ts';",
      "import { openOwnFile } from '../../core/node/own-files.ts';",
      "const late = await import('node:fs');",
      "import files from 'node:fs';",
    );
    write('src-main/cli/a.ts', "import { readFile } from 'node:fs/promises';");
    expect(places()).toEqual([2, 4, 5, 7, 8].map((line) => `src-main/runs/a.ts:${line}`));
    expect(findLayerViolations(root)[0].message).toContain('readFile of "node:fs/promises" would follow links');
  });

  it('names an exception that is none any more', () => {
    mkdirSync(path.join(root, 'src-main/export'));
    write('src-main/export/sinks.ts', "import { join } from 'node:path';");
    expect(findLayerViolations(root).map(({ message }) => message)).toEqual([expect.stringContaining('no exception')]);
  });

  it('finds every kind of import, including type imports, with its line', () => {
    write(
      'src-main/runs/a.ts',
      "import { train } from '../../workers/train.ts';",
      "import type { View } from '../../src-renderer/view.ts';",
      "export * from '../../workers/index.ts';",
      "export type { Member } from 'tutti-ensembles';",
      'const tick = /[`\'"]/;',
      "const late = await import('../../workers/late.ts');",
      'const old = require(`../../workers/old.ts`);',
      "type Model = import('../../workers/model.ts').Model;",
      "import legacy = require('../../workers/legacy.ts');",
      "const text = `${await import('../../workers/inside.ts')}`;",
      "// import '../../workers/comment.ts'",
    );
    const lines = [1, 2, 3, 4, 6, 7, 8, 9, 10];
    expect(places()).toEqual(lines.map((line) => `src-main/runs/a.ts:${line}`));
  });

  it("enforces the order of a layer's folders, and names an unlisted folder", () => {
    write('src-main/runs/a.ts', "import '../store/a.ts';", "import '../hub/a.ts';", "import '../cli.ts';");
    write('src-main/odd/a.ts', "import '../store/a.ts';");
    expect(findLayerViolations(root)).toEqual([
      {
        file: 'src-main/odd/a.ts',
        line: 1,
        message:
          'src-main/odd/a.ts lies in a folder that has no place in the order of src-main. Give it ' +
          'one in scripts/layers.ts.',
      },
      {
        file: 'src-main/runs/a.ts',
        line: 2,
        message: 'src-main/runs lies below src-main/hub and must not import "../hub/a.ts". Move the shared part down.',
      },
      {
        file: 'src-main/runs/a.ts',
        line: 3,
        message: 'src-main/runs lies below src-main and must not import "../cli.ts". Move the shared part down.',
      },
    ]);
  });

  it('gives folders inside a folder their own places', () => {
    for (const folder of ['runs', 'index']) mkdirSync(path.join(root, 'src-main/store', folder), { recursive: true });
    write('src-main/store/runs/a.ts', "import '../home.ts';", "import '../index/b.ts';");
    write('src-main/store/index/a.ts', "import '../runs/b.ts';");
    expect(findLayerViolations(root)).toEqual([
      {
        file: 'src-main/store/runs/a.ts',
        line: 2,
        message:
          'src-main/store/runs lies below src-main/store/index and must not import "../index/b.ts". ' +
          'Move the shared part down.',
      },
    ]);
  });

  it('finds a circle of imports once with its path, also through type imports', () => {
    write('workers/a.ts', "import './d.ts';", "import './b.ts';");
    write('workers/b.ts', "import type { C } from './c.ts';", "import './d.ts';");
    write('workers/c.ts', "import './b.ts';", "export * from './a.ts';");
    write('workers/d.ts', "import './e.ts';");
    expect(findLayerViolations(root)).toEqual([
      {
        file: 'workers/a.ts',
        line: 2,
        message:
          'These files import each other in a circle: workers/a.ts → workers/b.ts → workers/c.ts → workers/a.ts. ' +
          'Move what both sides need to a file below them.',
      },
    ]);
  });

  it('allows 20 files per folder, and no more', () => {
    for (let index = 0; index < 20; index++) write(`workers/${index}.ts`, '');
    expect(findLayerViolations(root)).toEqual([]);
    write('workers/20.vue', '');
    expect(findLayerViolations(root)).toEqual([
      {
        file: 'workers',
        line: 1,
        message: 'workers holds 21 files, and a folder may hold 20. Give each subject its own folder.',
      },
    ]);
  });

  it('reads only the scripts of Vue files', () => {
    write(
      'src-renderer/views/Run.vue',
      "<template><p>import '../../workers/no.ts'</p></template>",
      '<script lang="ts">',
      "export type { Hub } from '../../src-main/hub.ts';",
      '</script>',
      '<script setup lang="ts">',
      "import { ref } from 'vue';",
      "import { hub } from '../../src-main/hub.ts';",
      '</script>',
    );
    expect(places()).toEqual(['src-renderer/views/Run.vue:3', 'src-renderer/views/Run.vue:7']);
  });

  it('allows core to import only zod, and keeps the other layers out of tests and examples', () => {
    write(
      'core/a.ts',
      "import 'node:fs';",
      "import 'zodiac';",
      "import '../workers/a.ts';",
      "import '../package.json';",
    );
    write('workers/a.ts', "import '../test/unit/helpers.ts';", "import '../examples/a/project.ts';");
    const expected = [1, 2, 3, 4].map((line) => `core/a.ts:${line}`);
    expect(places()).toEqual([...expected, 'workers/a.ts:1', 'workers/a.ts:2']);
  });

  it('gives the rule and the remedy', () => {
    write('core/a.ts', "import 'node:fs';");
    write('workers/a.ts', "import '../src-main/hub.ts';");
    expect(findLayerViolations(root).map(({ message }) => message)).toEqual([
      'core imports only zod, not "node:fs". Move what needs it to the layer that uses it.',
      'workers imports core and no other folder, not "../src-main/hub.ts". Move what both need to core.',
    ]);
  });
});

describe('this repository', () => {
  it('has no violation', () => {
    expect(findLayerViolations(fileURLToPath(new URL('../../..', import.meta.url)))).toEqual([]);
  });
});
