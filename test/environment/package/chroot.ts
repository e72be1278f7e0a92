import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import packaging from '../../../electron-builder.config.ts';
import { whyNoElectron } from '../electron/electron.ts';
import { isOnPath } from '../programs.ts';
import { testHome } from '../test-home.ts';

/**
 * Debian 12 with the packages on which Tutti's package depends, and no others; for the stand-in of Electron's SQLite,
 * also the system's.
 */
export const baseSuite = 'bookworm';
export const basePackages = [...packaging.deb.depends, 'libsqlite3-0'];
const basePrint = createHash('sha256')
  .update([baseSuite, ...basePackages].join(' '))
  .digest('hex')
  .slice(0, 16);
export const packageHome = join(testHome, 'package');
export const baseFolder = join(packageHome, `debian-${basePrint}`);
export const builderProgram = join(packageHome, 'builder/node_modules/.bin/electron-builder');

/** Why packages cannot be installed in a system for tests here; null if they can. */
export function whyNoChroot(): string | null {
  const noElectron = whyNoElectron();
  if (noElectron !== null) return noElectron;
  if (process.getuid?.() !== 0) return 'only root can make a system to install packages in';
  const missing = ['dpkg-deb', 'unshare', 'nsenter'].find((program) => !isOnPath(program));
  if (missing !== undefined) return `${missing} is not installed`;
  if (!existsSync(baseFolder) || !existsSync(builderProgram))
    return 'the system to install packages in is not set up: npm run setup:package-test';
  const { status } = spawnSync('unshare', [...namespaces, 'mount', '-t', 'tmpfs', 'none', '/mnt']);
  return status === 0 ? null : 'no disk can be mounted';
}

/** Mounts and processes that end with the process which made them. */
const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private'];

/** Mounts the system: what is written to it goes to memory, and is lost at the end. Its `/mnt` is the second folder. */
const mountSystem = `
set -e
cd "$1"
mkdir changes root
mount -t tmpfs none changes
mkdir changes/upper changes/work
mount -t overlay none -o "lowerdir=$2,upperdir=changes/upper,workdir=changes/work" root
mount -t proc none root/proc
mount --rbind /dev root/dev
mount --bind "$3" root/mnt
echo ready
exec cat
`;

/** A Debian without Tutti, in which packages are installed and programs run. */
export class Chroot {
  readonly #folder: string;
  readonly #holder: ChildProcess;

  private constructor(folder: string, holder: ChildProcess) {
    this.#folder = folder;
    this.#holder = holder;
  }

  /** @param shared a folder that the system sees as /mnt */
  static async open(shared: string): Promise<Chroot> {
    const folder = await mkdtemp(join(tmpdir(), 'tutti-chroot-'));
    const args = [...namespaces, 'sh', '-c', mountSystem, 'sh', folder, baseFolder, shared];
    const holder = spawn('unshare', args, { stdio: ['pipe', 'pipe', 'inherit'] });
    await Promise.race([
      once(holder.stdout, 'data'),
      once(holder, 'exit').then(() => {
        throw new Error(`The system in ${baseFolder} could not be mounted.`);
      }),
    ]);
    return new Chroot(folder, holder);
  }

  /** The command and arguments that run a program in the system. @param user its name there */
  command(user: string, program: readonly string[], env: Record<string, string> = {}): [string, ...string[]] {
    const home = user === 'root' ? '/root' : `/home/${user}`;
    const variables = { HOME: home, PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8', ...env };
    const { pid } = this.#holder;
    return [
      'nsenter',
      `--mount=/proc/${pid}/ns/mnt`,
      `--pid=/proc/${pid}/ns/pid_for_children`,
      'chroot',
      `--userspec=${user}`,
      join(this.#folder, 'root'),
      'env',
      '--ignore-environment',
      `--chdir=${home}`,
      ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
      ...program,
    ];
  }

  /** @returns what the program prints @throws Error with its other output if it fails */
  async run(user: string, ...program: string[]): Promise<string> {
    const [command, ...args] = this.command(user, program);
    const { stdout } = await promisify(execFile)(command, args, { maxBuffer: 2 ** 26 });
    return stdout;
  }

  /** Ends all processes in it. */
  async close(): Promise<void> {
    const ended = once(this.#holder, 'exit');
    this.#holder.stdin?.end();
    await ended;
    await rm(this.#folder, { recursive: true });
  }
}
