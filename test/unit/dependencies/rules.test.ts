import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Lockfile, readLockfile } from '../../../scripts/dependencies/lockfile.ts';
import { findDependencyProblems } from '../../../scripts/dependencies/rules.ts';

const root = new URL('../../../', import.meta.url);
const npmrc = 'ignore-scripts=true\n';
const integrity = `sha512-${'A'.repeat(86)}==`;
const sound: Lockfile['packages'][string] = { version: '1.0.0', license: 'MIT', integrity };
const onnxruntime = { ...sound, version: '1.30.0', hasInstallScript: true };
const koffi = { ...sound, version: '3.3.4', hasInstallScript: true };

/** A lockfile with one more package than the reviewed ones. */
function lockfile(name: string, locked: Lockfile['packages'][string], direct: Record<string, string> = {}): Lockfile {
  return {
    lockfileVersion: 3,
    packages: {
      '': { dependencies: direct },
      'node_modules/koffi': koffi,
      'node_modules/onnxruntime-node': onnxruntime,
      [`node_modules/${name}`]: locked,
    },
  };
}

it('finds nothing wrong with the packages of this repository', () => {
  expect(findDependencyProblems(readLockfile(root), readFileSync(new URL('.npmrc', root), 'utf8'))).toEqual([]);
});

it('accepts a sound package, from the public registry or without a source', () => {
  const resolved = 'https://registry.npmjs.org/left/-/left-1.0.0.tgz';
  expect(findDependencyProblems(lockfile('left', sound), npmrc)).toEqual([]);
  expect(findDependencyProblems(lockfile('left', { ...sound, resolved }), npmrc)).toEqual([]);
});

describe('refuses a lockfile', () => {
  it.each<[string, string, Lockfile['packages'][string], string]>([
    ['a package without a hash', 'left', { ...sound, integrity: undefined }, 'left@1.0.0 has no SHA-512'],
    ['a weak hash', 'left', { ...sound, integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }, 'left@1.0.0 has no SHA-512'],
    ['a hash that is too short', 'left', { ...sound, integrity: 'sha512-AAAA' }, 'left@1.0.0 has no SHA-512'],
    [
      'another registry',
      'left',
      { ...sound, resolved: 'https://registry.example/left.tgz' },
      'only the public registry',
    ],
    [
      'a lookalike host',
      'left',
      { ...sound, resolved: 'https://registry.npmjs.org.example/left.tgz' },
      'only the public registry',
    ],
    [
      'a git repository',
      'left',
      { ...sound, resolved: 'git+ssh://git@example.org/left.git#1' },
      'only the public registry',
    ],
    ['a linked folder', 'left', { ...sound, link: true }, 'comes from a link'],
    [
      'a new install script',
      'left',
      { ...sound, hasInstallScript: true },
      'left@1.0.0 has an install script that nobody has reviewed',
    ],
    [
      'a new version of a package with one',
      'koffi',
      { ...koffi, version: '3.3.5' },
      'koffi@3.3.5 has an install script',
    ],
    ['an unknown licence', 'left', { ...sound, license: 'SSPL-1.0' }, 'left@1.0.0 has the licence SSPL-1.0'],
    ['no licence', 'left', { ...sound, license: undefined }, 'left@1.0.0 has the licence (none named)'],
    [
      'the protest release of node-ipc',
      'node-ipc',
      { ...sound, version: '10.1.1' },
      'node-ipc@10.1.1 is a release with malicious code',
    ],
    [
      'a stolen release of node-ipc',
      'node-ipc',
      { ...sound, version: '12.0.1' },
      'node-ipc@12.0.1 is a release with malicious code',
    ],
    [
      'a nested one',
      'a/node_modules/node-ipc',
      { ...sound, version: '9.2.2' },
      'node-ipc@9.2.2 is a release with malicious code',
    ],
    [
      'one under another name',
      'harmless',
      { ...sound, name: 'node-ipc', version: '12.0.1' },
      'node-ipc@12.0.1 is a release with malicious code',
    ],
    [
      'peacenotwar in any version',
      'peacenotwar',
      { ...sound, version: '9.1.5' },
      'peacenotwar@9.1.5 is a release with malicious code',
    ],
  ])('with %s', (_what, name, locked, problem) => {
    const problems = findDependencyProblems(lockfile(name, locked), npmrc);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(problem);
  });

  it('with a range of versions in package.json', () => {
    expect(findDependencyProblems(lockfile('left', sound, { left: '^1.0.0' }), npmrc)).toEqual([
      'package.json asks for left "^1.0.0". Name one exact version.',
    ]);
  });

  it('whose npm would run install scripts', () => {
    expect(findDependencyProblems(lockfile('left', sound), 'ignore-scripts=false\n')).toEqual([
      '.npmrc must hold ignore-scripts=true, so that installing runs no code of the packages.',
    ]);
  });

  it('without a package whose install script was reviewed', () => {
    const { 'node_modules/koffi': _koffi, ...packages } = lockfile('left', sound).packages;
    expect(findDependencyProblems({ lockfileVersion: 3, packages }, npmrc)).toEqual([
      'koffi has no install script any more. Remove it from scripts/dependencies/reviewed.ts.',
    ]);
  });
});
