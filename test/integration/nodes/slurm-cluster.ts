import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { notLinux } from '../../environment/reasons.ts';
import { freePort } from './ssh.ts';

const programs = ['munged', 'slurmctld', 'slurmd'].map((name) => `/usr/sbin/${name}`);
const startMs = 20_000;
const lookEveryMs = 250;
const run = promisify(execFile);

/** A real SLURM with two nodes on this machine. */
export interface SlurmCluster {
  /** Variables with which its commands find it. */
  variables: Record<string, string>;
  end(): Promise<void>;
}

function whyNot(): string | null {
  if (notLinux !== null) return notLinux;
  if (!programs.every(existsSync)) return 'SLURM is not installed';
  return process.getuid?.() === 0 ? null : 'only root can start SLURM';
}

/**
 * Starts SLURM's daemons of Debian's packages in a temporary folder, with two nodes.
 * @returns the reason why it does not run here, as the end of a sentence
 */
export async function startSlurm(): Promise<SlurmCluster | string> {
  const reason = whyNot();
  if (reason !== null) return reason;
  const folder = await mkdtemp(join(tmpdir(), 'tutti-slurm-'));
  const conf = join(folder, 'slurm.conf');
  await writeFile(join(folder, 'munge.key'), randomBytes(1024), { mode: 0o400 });
  await writeFile(conf, await configuration(folder));
  const variables = { SLURM_CONF: conf, PATH: `${process.env.PATH}${delimiter}/usr/sbin` };
  const children: ChildProcess[] = [];
  const start = (command: string, ...args: string[]): void => {
    children.push(spawn(command, args, { env: { ...process.env, ...variables }, stdio: 'ignore' }));
  };
  const end = async (): Promise<void> => {
    // Jobs do not end with their daemons.
    const env = { ...process.env, ...variables };
    await run('scancel', ['--user', 'root'], { env }).catch(() => undefined);
    for (let left = '?'; left !== ''; await wait(lookEveryMs)) {
      left = await run('squeue', ['--noheader'], { env }).then(
        ({ stdout }) => stdout,
        () => '',
      );
    }
    const ended = children.filter(({ exitCode }) => exitCode === null).map((child) => once(child, 'exit'));
    for (const child of children.toReversed()) child.kill('SIGTERM');
    await Promise.all(ended);
    await rm(folder, { recursive: true, force: true });
  };
  const at = (name: string, file: string): string => `--${name}=${join(folder, file)}`;
  start(programs[0], '--foreground', '--force', at('socket', 'munge.sock'), at('key-file', 'munge.key'), at('pid-file', 'munged.pid'), at('log-file', 'munged.log'), at('seed-file', 'munged.seed')); // prettier-ignore
  start(programs[1], '-D');
  for (const node of ['n1', 'n2']) start(programs[2], '-D', '-N', node);
  const endMs = performance.now() + startMs;
  while (performance.now() < endMs) {
    const nodes = await run('sinfo', ['--noheader', '--format', '%D %t'], {
      env: { ...process.env, ...variables },
    }).catch(() => null);
    if (nodes?.stdout.trim() === '2 idle') return { variables, end };
    await wait(lookEveryMs);
  }
  await end();
  return 'SLURM does not start here';
}

async function configuration(folder: string): Promise<string> {
  const host = hostname().split('.')[0];
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  const nodes = [1, 2].map((number) => `NodeName=n${number} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${ports[number]} CPUs=2 State=UNKNOWN`); // prettier-ignore
  return `ClusterName=tutti
SlurmctldHost=${host}(127.0.0.1)
SlurmctldPort=${ports[0]}
AuthType=auth/munge
CredType=cred/munge
# A requeued job waits until its credential has expired, by default two minutes.
AuthInfo=socket=${folder}/munge.sock,cred_expire=5
SlurmUser=root
SlurmdUser=root
StateSaveLocation=${folder}
SlurmdSpoolDir=${folder}/spool-%n
SlurmctldPidFile=${folder}/slurmctld.pid
SlurmdPidFile=${folder}/slurmd-%n.pid
SlurmctldLogFile=${folder}/slurmctld.log
SlurmdLogFile=${folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
SchedulerParameters=sched_interval=1,bf_interval=1
${nodes.join('\n')}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`;
}
