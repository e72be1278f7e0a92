import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { nativeFolderVariable } from '../../../core/protocol/machine/native-build.ts';

const root = resolve(import.meta.dirname, '../../..');
/** Kept between runs of the tests: it takes a download of 270 MB and a compiler. */
const home = join(root, 'node_modules', '.cache', 'tutti');

export const nativeFolder = join(home, 'native', 'tensorflow');

/**
 * Sets TensorFlow up by the user's own command, unless an earlier test has, and names it to this process and its children.
 * @returns null, or why it cannot be had here
 */
export async function setUpTensorflow(): Promise<string | null> {
  if (process.platform !== 'linux') return `there is no setup for ${process.platform}`;
  if (spawnSync('c++', ['--version']).status !== 0) return 'there is no C++ compiler';
  if (!(await answers('https://pypi.org/simple/tensorflow-cpu/'))) return 'the Python Package Index cannot be reached';
  if (!existsSync(nativeFolder)) {
    const env = { ...process.env, TUTTI_HOME: home };
    await promisify(execFile)('npm', ['run', 'setup:native'], { cwd: root, env });
  }
  process.env[nativeFolderVariable] = nativeFolder;
  return null;
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(5_000) })).ok;
  } catch {
    return false;
  }
}
