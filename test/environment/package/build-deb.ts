import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../test-home.ts';
import { builderProgram } from './chroot.ts';

/**
 * Packs the built app with electron-builder, and makes its Debian package with the system's `dpkg-deb`.
 * @param output an empty folder
 * @returns the package, and the folder of the files that it installs in /opt/Tutti
 */
export async function buildDeb(output: string): Promise<{ file: string; app: string }> {
  const env = {
    ...process.env,
    TUTTI_PACKAGE_OUTPUT: output,
    CUSTOM_FPM_PATH: join(import.meta.dirname, 'fpm.mjs'),
  };
  const config = join(import.meta.dirname, 'builder.config.ts');
  const args = [builderProgram, '--linux', 'deb', '--config', config, '--publish', 'never'];
  await promisify(execFile)(process.execPath, args, { cwd: repository, env });
  const file = (await readdir(output)).find((name) => name.endsWith('.deb'));
  if (file === undefined) throw new Error(`electron-builder made no Debian package in ${output}.`);
  return { file: join(output, file), app: join(output, 'linux-unpacked') };
}
