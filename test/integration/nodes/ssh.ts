import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { notLinux } from '../../environment/reasons.ts';

/** Programs that are not in the path of every user. */
const sshd = '/usr/sbin/sshd';

export const noSshd =
  notLinux ?? (existsSync(sshd) && existsSync('/usr/bin/ssh') ? null : 'openssh-server is not installed');

/** A real sshd on a free port, which takes one key of this test. */
export interface LoginNode {
  /** Variables with which `ssh` reaches it by the name `login`. */
  variables: Record<string, string>;
  /** Files that name the processes of the ssh clients. */
  end(): void;
}

/**
 * Starts `sshd` for this user alone, with keys in a folder, and writes an `ssh` before the real one in the path that
 * uses a configuration of that folder.
 * @param home the home of Tutti behind it
 */
export async function startLoginNode(folder: string, home: string): Promise<LoginNode> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const key of ['host', 'user'])
    spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, key)], { stdio: 'inherit' });
  const port = await freePort();
  const config = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${folder}/host`,
    `AuthorizedKeysFile ${folder}/user.pub`,
    'StrictModes no',
    'UsePAM no',
    `PidFile ${folder}/sshd.pid`,
    `SetEnv TUTTI_HOME=${home}`,
    '',
  ];
  await writeFile(join(folder, 'sshd_config'), config.join('\n'));
  // Debian's sshd needs this folder when it is not started by the system.
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true });
  const server = spawn(sshd, ['-D', '-e', '-f', join(folder, 'sshd_config')], { stdio: ['ignore', 'ignore', 'pipe'] });
  await listening(server);
  const client = [
    'Host login',
    '  HostName 127.0.0.1',
    `  Port ${port}`,
    `  IdentityFile ${folder}/user`,
    '  IdentitiesOnly yes',
    `  UserKnownHostsFile ${folder}/known_hosts`,
    '  StrictHostKeyChecking accept-new',
    '',
  ];
  await writeFile(join(folder, 'ssh_config'), client.join('\n'));
  const variables = await program(folder, `exec /usr/bin/ssh -F ${folder}/ssh_config "$@"`);
  return { variables, end: () => void server.kill() };
}

/**
 * A stand-in for ssh: its login node is this machine. It notes the process of each forwarded connection in `forwards`,
 * and refuses while the file `down` is there.
 * @param home the home of Tutti behind it
 */
export async function standInForSsh(folder: string, home: string): Promise<Record<string, string>> {
  await mkdir(folder, { recursive: true });
  const forward = `
const [, , place] = process.argv;
const [, host, port] = /^(.*):(\\d+)$/.exec(place);
const socket = require('node:net').connect(Number(port), host);
socket.on('error', (error) => { console.error(error.message); process.exit(255); });
process.stdin.pipe(socket).pipe(process.stdout);
`;
  await writeFile(join(folder, 'forward.cjs'), forward);
  return program(
    folder,
    `[ ! -e ${folder}/down ] || { echo "ssh: the network is down" >&2; exit 255; }
while [ "$1" != -- ]; do
  [ "$1" != -W ] || { echo $$ >> ${folder}/forwards; exec ${process.execPath} ${folder}/forward.cjs "$2"; }
  shift
done
shift 2
TUTTI_HOME=${home} exec "$@"`,
  );
}

async function program(folder: string, script: string): Promise<Record<string, string>> {
  const programs = join(folder, 'programs');
  await mkdir(programs, { recursive: true });
  await writeFile(join(programs, 'ssh'), `#!/bin/sh\n${script}\n`);
  await chmod(join(programs, 'ssh'), 0o755);
  return { PATH: `${programs}${delimiter}${process.env.PATH}` };
}

async function listening(server: ChildProcess): Promise<void> {
  const { stderr } = server;
  if (stderr === null) throw new Error('It is a pipe.');
  const lines = createInterface({ input: stderr });
  for await (const line of lines) if (line.includes('listening on')) break;
  stderr.resume();
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('It has a port.');
  return address.port;
}
