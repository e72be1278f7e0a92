import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { samples, writeMadeCifar10 } from '../samples/samples.ts';

const run = promisify(execFile);
const repository = resolve(import.meta.dirname, '../..');
const tarball = join(repository, 'out', `${manifest.name}-${manifest.version}.tgz`);

/** The system's own commands, as a user has them: without those that npm puts before them for scripts. */
const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));

/** What npm and vitest set for this process, but the user's own npm would not have. */
const isForeign = (name: string): boolean =>
  name === 'TUTTI_TRUST' ||
  name === 'TUTTI_PROGRAMS' ||
  /^npm_(?!config_(registry|cache|cafile|userconfig|(https_)?proxy)$)/.test(name);
const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !isForeign(name)));

let user = '';

/** Runs a command in the user's folder. @returns what it prints */
async function inFolder(command: string, ...args: string[]): Promise<string> {
  const env = {
    ...inherited,
    PATH: path.join(delimiter),
    TUTTI_HOME: join(user, 'home'),
    TUTTI_DATA: join(user, 'data'),
  };
  const { stdout } = await run(command, args, { cwd: user, env });
  return stdout;
}

beforeAll(async () => {
  user = await mkdtemp(join(tmpdir(), 'tutti-package-'));
  for (const name of ['mnist', 'uci']) await cp(join(samples, name), join(user, 'data', name), { recursive: true });
  await writeMadeCifar10(join(user, 'data'), { train: 200, test: 50 });
  await run(process.execPath, ['--disable-warning=ExperimentalWarning', 'scripts/package/build.ts'], {
    cwd: repository,
  });
  await inFolder('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', tarball);
}, 180_000);

afterAll(() => rm(user, { recursive: true, force: true }));

describe('The package, installed in an empty folder', () => {
  it("runs on the system's Node", async () => {
    expect(await inFolder('npx', 'tutti', '--version')).toBe(`${manifest.version}\n`);
  });

  it("is imported and required by the user's own scripts", async () => {
    const imported = "import { defineProject } from 'tutti-ensembles'; console.log(typeof defineProject);";
    expect(await inFolder('node', '--input-type=module', '--eval', imported)).toBe('function\n');
    const required = "console.log(typeof require('tutti-ensembles').defineProject);";
    expect(await inFolder('node', '--input-type=commonjs', '--eval', required)).toBe('function\n');
  });

  it('creates a project that trains, and whose types are right', async () => {
    await inFolder('npx', 'tutti', 'create', 'mine', '--template', 'tabular');
    const said = await inFolder('npx', 'tutti', 'train', 'mine', '--members', '2', '--max-epochs', '1');
    expect(said).toContain('finished after 1 epoch, 5 steps');
    expect(await readFile(join(user, 'mine', 'package.json'), 'utf8')).not.toContain('tutti-ensembles');
    const compiler = join(repository, 'node_modules', 'typescript', 'bin', 'tsc');
    const types = join(repository, 'node_modules', '@types');
    expect(await inFolder(process.execPath, compiler, '-p', 'mine', '--typeRoots', types)).toBe('');
  });

  it('finds wrong types in a project', async () => {
    await writeFile(
      join(user, 'mine', 'wrong.ts'),
      "import { defineProject, tf } from 'tutti-ensembles';\ndefineProject({ name: 1 });\ntf.sequential(1);\n",
    );
    const compiler = join(repository, 'node_modules', 'typescript', 'bin', 'tsc');
    const types = join(repository, 'node_modules', '@types');
    const failure = await inFolder(process.execPath, compiler, '-p', 'mine', '--typeRoots', types).catch(
      (error: { stdout: string }) => error.stdout,
    );
    expect(failure).toContain("mine/wrong.ts(2,17): error TS2322: Type 'number' is not assignable to type 'string'");
    // TensorFlow.js's types are found too: without them, everything would be allowed.
    expect(failure).toContain('mine/wrong.ts(3,15): error TS');
  });

  it("runs a project in CommonJS, which gets the worker's copy of the library", async () => {
    await mkdir(join(user, 'common'));
    await writeFile(
      join(user, 'common', 'project.js'),
      `const { createSplits, defineProject, gaussianBlobs, tf, z } = require('tutti-ensembles');
      module.exports = defineProject({
        name: 'Common', description: '', task: 'classification', hyperparameters: z.object({}),
        data: ({ seed }) => createSplits({ train: gaussianBlobs({ samples: 64, classes: 2, seed }) }),
        model: ({ targetSize }) => tf.sequential({ layers: [tf.layers.dense({ units: targetSize, inputShape: [2] })] }),
      });`,
    );
    const said = await inFolder('npx', 'tutti', 'train', 'common', '--trust', '--members', '1', '--max-epochs', '1');
    expect(said).toContain('finished after 1 epoch');
  });

  const examples = globSync('examples/*/project.ts', { cwd: repository }).map((file) => basename(dirname(file)));
  /** Options with which the samples of the data sets suffice. */
  const small: Readonly<Record<string, readonly string[]>> = {
    '02_coupled_ssl': ['--set', 'labels=60', '--set', 'heldOut=40', '--batch-size', '10'],
    '03_hpo_ensemble': ['--table', 'yacht'],
    '05_joint_training': ['--held-out', '100'],
    '07_parallel_ensemble': ['--held-out', '100'],
  };

  it.each(examples)(
    'trains two steps of the example %s, whatever files its project imports and reads',
    async (example) => {
      const options = [
        '--members',
        '2',
        '--devices',
        '1',
        '--max-epochs',
        '2',
        '--max-steps',
        '2',
        ...(small[example] ?? []),
      ];
      const said = await inFolder('npx', 'tutti', 'train', `examples/${example}`, ...options);
      expect(said).toMatch(/^finished after \d epochs?, 2 steps/m);
    },
  );

  it('has all examples, and the pages that messages name', async () => {
    expect(examples.length).toBeGreaterThan(8);
    const installed = join(user, 'node_modules', manifest.name);
    expect(await readdir(join(installed, 'docs'))).toContain('projects.md');
    expect(await readFile(join(installed, 'examples', 'digits', 'README.md'), 'utf8')).toContain('# Digits');
    expect(JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))).toMatchObject({
      homepage: manifest.homepage,
    });
  });

  it('holds its examples as JavaScript, and neither tests nor benchmarks', async () => {
    const { stdout } = await run('tar', ['-tzf', tarball]);
    const files = stdout.trim().split('\n');
    expect(files).toContain('package/examples/00_heteroscedastic_regression/project.js');
    expect(
      files.filter((file) =>
        /\.test\.|\/(test|bench|scripts)\/|(?<!\.d)\.ts$/.test(file.replace(/\/templates\/.*/, '')),
      ),
    ).toEqual([]);
    // Of the pages it has those for users.
    expect(files.filter((file) => file.startsWith('package/out/renderer/assets/')).join()).toContain('RunPage');
    expect(files.filter((file) => file.includes('Design'))).toEqual([]);
  });
});
