import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { renameOver } from '../../core/node/atomic-file.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { appFile } from '../processes/app-files.ts';
import { homePaths } from '../store/home.ts';

/**
 * The folder of the examples. An AppImage is mounted at another place at each start, where its runs would not find
 * their projects again: its examples are copied into Tutti's home, a folder for each version.
 * @param environment in an AppImage, `APPIMAGE` is its file
 */
export function examplesFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return environment.APPIMAGE === undefined ? appFile('examples') : join(homePaths().examples, packageJson.version);
}

/** Copies the examples to where {@link examplesFolder} says, if they are not there. */
export async function provideExamples(environment: NodeJS.ProcessEnv = process.env): Promise<void> {
  const folder = examplesFolder(environment);
  if (existsSync(folder)) return;
  await mkdir(dirname(folder), { recursive: true });
  const scratch = await mkdtemp(`${folder}-`);
  await cp(appFile('examples'), scratch, { recursive: true });
  await renameOver(scratch, folder);
}

/**
 * The folder of a project that a user names. `examples/digits` also means the example that this Tutti brings along,
 * where the current folder has none of that name.
 * @param tell called with a note where an example was meant
 */
export function findProject(folder: string, tell: (note: string) => void): string {
  const [parent, name, ...deeper] = folder.replace(/[\\/]+$/, '').split(/[\\/]/);
  if (parent !== 'examples' || name === undefined || deeper.length > 0 || existsSync(folder)) return folder;
  const example = join(examplesFolder(), name);
  if (name.startsWith('.') || !existsSync(example)) return folder;
  tell(`${folder} is not in the current folder. This is Tutti's example in ${example}.`);
  return example;
}
