import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isModuleSyntax } from '../../../workers/system/own-copies.ts';
import { loadProject } from '../../../workers/project/load-project.ts';

/** The outcome of loading a project with extra parts. */
async function load(parts: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-project-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const required = `name: 'p', description: '', hyperparameters: z.object({}), task: 'regression', data() {}, model() {}`;
  await writeFile(join(folder, 'project.mjs'), `import { z } from 'zod';\nexport default { ${required}, ${parts} };\n`);
  return loadProject(folder).then(
    () => 'loaded',
    (error: Error) => error.message,
  );
}

/** Loads a project of one file. @returns its name, or the error */
async function loadFile(name: string, code: string, manifest?: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-project-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, name), code);
  if (manifest !== undefined) await writeFile(join(folder, 'package.json'), manifest);
  return loadProject(folder).then(
    (project) => project.name,
    (error: Error) => error.message,
  );
}

const parts = `{ name: 'p', description: '', hyperparameters: z.object({}), task: 'regression', data() {}, model() {} }`;
const asCommonJs = `const { z } = require('zod');\nmodule.exports = ${parts};\n`;
const asModule = `import { z } from 'zod';\nexport default ${parts};\n`;

describe('The file of a project', () => {
  it.each(['project.cjs', 'project.js', 'project.cts'])('is CommonJS in %s', async (name) => {
    expect(await loadFile(name, asCommonJs)).toBe('p');
  });

  it.each(['project.mjs', 'project.js', 'project.mts', 'project.ts'])('is a module in %s', async (name) => {
    expect(await loadFile(name, asModule)).toBe('p');
  });

  it.each(['project.js', 'project.ts'])('is a module in %s although npm init declared CommonJS', async (name) => {
    expect(await loadFile(name, asModule, '{"type":"commonjs"}')).toBe('p');
  });

  it('is what a compiler made of a module', async () => {
    const code =
      `Object.defineProperty(exports, '__esModule', { value: true });\nconst { z } = ` +
      `require('zod');\nexports.default = ${parts};`;
    expect(await loadFile('project.js', code)).toBe('p');
  });
});

describe('isModuleSyntax', () => {
  it.each([
    ["import x from 'y'", true],
    ["'use strict';\nimport 'y';", true],
    ["  import{ x } from 'y'", true],
    ["import * as x from 'y'", true],
    ['const x = 1;\nexport { x };', true],
    ['export default {};', true],
    ["const x = require('x');\nexports.x = x;", false],
    ["import('x').then(use);", false],
    ['imported = 1;\nexportAll(1);', false],
    ["/*\nimport x from 'y'\n*/\nmodule.exports = 1;", false],
    ["const help = `\nimport x from 'y'\n`;", false],
  ])('of %j is %s', (source, expected) => {
    expect(isModuleSyntax(source)).toBe(expected);
  });
});

describe('loadProject', () => {
  it('accepts the parts of a project', async () => {
    expect(await load('defaults: { members: 3 }, loss() {}, callbacks() { return []; }, async figures() {}')).toBe(
      'loaded',
    );
  });

  it('refuses an unknown part, and suggests a known one', async () => {
    expect(await load('figure() {}')).toContain('figure: a project has no such property. Did you mean figures?');
    expect(await load('default: {}')).toContain('default: a project has no such property. Did you mean defaults?');
    expect(await load('somethingElseAltogether: 1')).toContain(
      'A project has name, description, hyperparameters, task',
    );
  });
});
