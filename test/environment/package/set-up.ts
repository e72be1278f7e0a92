/**
 * `npm run setup:package-test`: prepares what the test of the installed package needs: electron-builder from npm, and a
 * Debian 12 from the mirror that this machine is configured to use, with the packages on which Tutti's depends.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import packageJson from '../../../package.json' with { type: 'json' };
import { isOnPath } from '../programs.ts';
import { baseFolder, basePackages, baseSuite, builderProgram, packageHome } from './chroot.ts';

function setUpBuilder(): void {
  const [builder] = /electron-builder@[\d.]+/.exec(packageJson.scripts.package) ?? [];
  if (builder === undefined)
    throw new Error('The script "package" in package.json names no version of electron-builder.');
  // A separate project, because npm would add to the one above it.
  run('npm', ['install', '--prefix', `${packageHome}/builder`, '--ignore-scripts', '--no-audit', '--no-fund', builder]);
}

function setUpDebian(): void {
  const scratch = `${baseFolder}.part`;
  rmSync(scratch, { recursive: true, force: true });
  const options = ['--variant=minbase', '--format=directory', '--dpkgopt=force-unsafe-io'];
  run('mmdebstrap', [...options, `--include=${basePackages.join(',')}`, baseSuite, scratch, ...mirror()]);
  renameSync(scratch, baseFolder);
}

/** The mirror of this machine, if it is a Debian with one of the usual files; else mmdebstrap's default. */
function mirror(): string[] {
  const sources = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list'].filter((file) =>
    existsSync(file),
  );
  const [address] = sources.flatMap(
    (file) => readFileSync(file, 'utf8').match(/https?:\/\/\S+\/debian\/?(?=\s)/) ?? [],
  );
  return address === undefined ? [] : [address];
}

function run(program: string, args: readonly string[]): void {
  const { status, error } = spawnSync(program, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${program} ended with ${status}.`, { cause: error });
}

if (process.getuid?.() !== 0 || !isOnPath('mmdebstrap')) {
  console.log('The test of the installed package needs root and mmdebstrap (Debian), so it does not run.');
} else {
  mkdirSync(packageHome, { recursive: true });
  if (!existsSync(builderProgram)) setUpBuilder();
  if (!existsSync(baseFolder)) setUpDebian();
  console.log(`The system to install packages in is set up in ${baseFolder}.`);
}
