#!/usr/bin/env node
/**
 * Stands in for fpm, which electron-builder would download: makes the Debian package with the distribution's own
 * `dpkg-deb`, from the same arguments. It does not compress, because that takes minutes.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const text = { type: 'string' };
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    s: { ...text, short: 's' },
    t: { ...text, short: 't' },
    force: { type: 'boolean' },
    depends: { ...text, short: 'd', multiple: true },
    'deb-recommends': { ...text, multiple: true, default: [] },
    'deb-compression': text,
    'deb-priority': text,
    'after-install': text,
    'after-remove': text,
    architecture: text,
    category: text,
    description: text,
    license: text,
    maintainer: text,
    name: text,
    package: text,
    url: text,
    vendor: text,
    version: text,
  },
});

// Beside the files, so that they can be linked instead of copied.
const root = mkdtempSync(join(dirname(values.package), 'deb-'));
try {
  for (const mapping of positionals) place(...mapping.split('='));
  writeControl();
  execFileSync('dpkg-deb', ['--root-owner-group', '-Znone', '--build', root, values.package], { stdio: 'inherit' });
} finally {
  rmSync(root, { recursive: true });
}

/** A folder ends with a slash: its content is placed. */
function place(from, to) {
  const target = join(root, to);
  mkdirSync(dirname(target), { recursive: true });
  if (from.endsWith('/')) execFileSync('cp', ['--archive', '--link', from, target]);
  else copyFileSync(from, target);
}

function writeControl() {
  const folder = join(root, 'DEBIAN');
  mkdirSync(folder);
  // Packages own no folder of the system with other rights than the system's.
  execFileSync('chmod', ['755', root, folder]);
  const [kibibytes] = execFileSync('du', ['--summarize', '--block-size=1K', root], { encoding: 'utf8' }).split('\t');
  const fields = {
    Package: values.name,
    Version: values.version,
    Architecture: values.architecture,
    Maintainer: values.maintainer,
    'Installed-Size': kibibytes,
    Depends: values.depends.join(', '),
    Recommends: values['deb-recommends'].join(', '),
    Section: values.category,
    Priority: values['deb-priority'],
    Homepage: values.url,
    Description: values.description.replace(/\n\s*/g, '\n '),
  };
  const lines = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '');
  writeFileSync(join(folder, 'control'), lines.map(([name, value]) => `${name}: ${value}\n`).join(''));
  for (const [script, file] of [
    ['postinst', values['after-install']],
    ['postrm', values['after-remove']],
  ]) {
    copyFileSync(file, join(folder, script));
    chmodSync(join(folder, script), 0o755);
  }
}
