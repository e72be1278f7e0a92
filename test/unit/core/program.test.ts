import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commandNames, programOf, spellCommands, tutti } from '../../../core/text/program.ts';
import { createProgram } from '../../../src-main/cli/program/program.ts';

const repository = join(import.meta.dirname, '../../..');

it('is the command of the system in a package of the desktop app, also beside its archive', () => {
  expect(programOf('file:///opt/Tutti/resources/app.asar.unpacked/core/text/program.ts')).toBe('tutti');
  expect(programOf('file:///C:/Programs/Tutti/resources/app.asar/out/main/electron.js')).toBe('tutti');
  expect(programOf('file:///home/user/tutti/core/text/program.ts')).toBe('npx tutti');
  expect(programOf('file:///home/user/mine/node_modules/tutti-ensembles/src-main/bundle/cli.js')).toBe('npx tutti');
  expect(tutti).toBe('npx tutti');
});

it('is how this process was called: by npm, by npx, or as a command for all folders', () => {
  const module = 'file:///usr/lib/node_modules/tutti-ensembles/src-main/bundle/cli.js';
  const called = (path: string, env: Record<string, string> = {}): string =>
    programOf(module, { argv: ['node', path], env });
  expect(called('/usr/local/bin/tutti')).toBe('tutti');
  expect(called('/work/node_modules/.bin/tutti')).toBe('npx tutti');
  expect(called('/work/src-main/tutti.mjs')).toBe('npx tutti');
  expect(called('/work/src-main/tutti.mjs', { npm_lifecycle_event: 'tutti' })).toBe('npm run tutti --');
  // A worker of a command.
  expect(called('/usr/lib/worker.js', { TUTTI_CALLED: '/usr/local/bin/tutti' })).toBe('tutti');
  expect(called('C:\\tools\\tutti')).toBe('tutti');
});

it('stands in messages in place of the short form, and in no other words', () => {
  const spelled = (text: string): string => spellCommands(text, 'npx tutti');
  expect(spelled('Run `tutti resume a`, or tutti fork a.')).toBe('Run `npx tutti resume a`, or npx tutti fork a.');
  expect(spelled('npx tutti train a; npm run tutti -- train a')).toBe('npx tutti train a; npm run tutti -- train a');
  expect(spelled('/opt/tutti train, tutti frutti, my-tutti runs, tutti runsome')).toBe(
    '/opt/tutti train, tutti frutti, my-tutti runs, tutti runsome',
  );
  expect(spellCommands('tutti runs', 'tutti')).toBe('tutti runs');
});

it('is known with all commands', () => {
  const program = createProgram({ openDashboard: () => Promise.resolve(0) });
  const names = program.commands.map((command) => command.name()).filter((name) => name !== 'complete');
  expect(names.sort()).toEqual(commandNames);
});

it('is never spelled out elsewhere, so that a package prints no command that its users lack', () => {
  const files = ['core', 'src-main', 'workers', 'src-renderer'].flatMap((folder) =>
    readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ts|vue|mjs|html)$/.test(file))
      .map((file) => join(folder, file)),
  );
  expect(files.length).toBeGreaterThan(1_000);
  const spelled = files.filter((file) => /npx tutti|npm start[`.]/.test(readFileSync(join(repository, file), 'utf8')));
  // The template README that `tutti create` adapts, and an example in a comment.
  expect(spelled.sort()).toEqual(['core/text/program.ts', 'src-main/creation/write-project.ts']);
});
