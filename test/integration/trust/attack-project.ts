import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** What the attacks of a project aim at. */
export interface Targets {
  /** A file in the user's home that the project must not read. */
  secretFile: string;
  /** A folder that it must not write. */
  outside: string;
  /** The folder of the run, of which only parts are the project's. */
  runFolder: string;
  /** A port of this machine that answers. */
  port: number;
  /** The process that trains it. */
  hubPid: number;
}

/** The path of koffi, by which code of a project can call the C library outside of Node's permission model. */
const koffi = createRequire(import.meta.url).resolve('koffi');

/** How each attack ended: an error code, or what it got. Plain JavaScript, because it becomes a project's source. */
const attacksWith = (threads: string | null): string => `
const code = (error) => error.code ?? String(error.message ?? error);
const attempt = (attack) => { try { return attack(); } catch (error) { return code(error); } };
const attemptLater = async (attack) => { try { return await attack(); } catch (error) { return code(error.cause ?? error); } };

async function attack({ secretFile, outside, runFolder, port, hubPid }) {
  const fs = await import('node:fs');
  const { connect } = await import('node:net');
  const { createSocket } = await import('node:dgram');
  const { spawnSync } = await import('node:child_process');
  const { Worker } = await import('node:worker_threads');
  const koffi = (await import('node:module')).createRequire(import.meta.url)(${JSON.stringify(koffi)});
  const libc = koffi.load(null);
  const open = libc.func('open', 'int', ['str', 'int', 'int']);
  const fork = libc.func('fork', 'int', []);
  const system = libc.func('system', 'int', ['str']);
  const socket = libc.func('socket', 'int', ['int', 'int', 'int']);
  const opens = (path, flags) => (open(path, flags, 0o600) < 0 ? 'refused' : 'opened');
  return {
    readPasswords: attempt(() => fs.readFileSync('/etc/passwd', 'utf8').length > 0),
    readSecret: attempt(() => fs.readFileSync(secretFile, 'utf8')),
    readSecretLater: await attemptLater(() => fs.promises.readFile(secretFile, 'utf8')),
    readParentFolder: attempt(() => fs.readdirSync(outside + '/..').length),
    writeOutside: attempt(() => fs.writeFileSync(outside + '/planted', 'x')),
    writeOwnSource: attempt(() => fs.appendFileSync(import.meta.filename, '// changed')),
    writeRecord: attempt(() => fs.writeFileSync(runFolder + '/run.json', '{}')),
    appendEvents: attempt(() => fs.appendFileSync(runFolder + '/events.jsonl', 'x')),
    replaceFolder: attempt(() => fs.renameSync(runFolder + '/state', runFolder + '/other')),
    plantFile: attempt(() => fs.writeFileSync(runFolder + '/notes.json', '{}')),
    writeOwnPart: attempt(() => fs.writeFileSync(runFolder + '/plots/own.txt', 'x') ?? 'written'),
    linkOutside: attempt(() => fs.symlinkSync('/etc', outside + '/link')),
    connect: await attemptLater(() => new Promise((resolve, reject) => {
      connect(port, '127.0.0.1').on('connect', () => resolve('connected')).on('error', reject);
    })),
    fetch: await attemptLater(async () => (await fetch('http://127.0.0.1:' + port)).status),
    datagram: await attemptLater(() => new Promise((resolve, reject) => {
      createSocket('udp4').on('error', reject).send('x', port, '127.0.0.1', (error) => (error ? reject(error) : resolve('sent')));
    })),
    secretVariable: process.env.TEST_SECRET_TOKEN ?? 'absent',
    declaredVariable: process.env.TEST_DECLARED ?? 'absent',
    searchPath: process.env.PATH === undefined ? 'absent' : 'there',
    spawn: attempt(() => spawnSync('true').error?.code ?? 'spawned'),
    exec: attempt(() => process.execve('/bin/true', ['true'], {})),
    thread: attempt(() => { new Worker('1', { eval: true }).terminate(); return 'started'; }),
    killHub: attempt(() => process.kill(hubPid, 'SIGCONT')),
    nativeReadSecret: opens(secretFile, 0),
    nativeWriteOutside: opens(outside + '/native', 0o101),
    nativeWriteRecord: opens(runFolder + '/run.json', 1),
    nativePlantFile: opens(runFolder + '/notes.json', 0o101),
    nativeLink: libc.func('symlink', 'int', ['str', 'str'])(secretFile, runFolder + '/plots/link') < 0 ? 'refused' : 'linked',
    nativeSecondName: libc.func('link', 'int', ['str', 'str'])(secretFile, runFolder + '/plots/name') < 0 ? 'refused' : 'linked',
    nativeEnvironmentOfHub: opens('/proc/' + hubPid + '/environ', 0),
    nativeMemoryOfHub: opens('/proc/' + hubPid + '/mem', 0),
    nativeSocket: socket(2, 1, 0) < 0 ? 'refused' : 'opened',
    nativeFork: fork() < 0 ? 'refused' : 'forked',
    nativeShell: system('true') === 0 ? 'ran' : 'refused',
    nativeThreads: ${threads === null ? "'not tried'" : `koffi.load(${JSON.stringify(threads)}).func('opened_by_threads', 'int', ['str'])(secretFile) === 0 ? 'refused' : 'opened'`},
    nativeRing: libc.func('syscall', 'long', ['long', 'int', 'str'])(425, 4, '\0'.repeat(120)) < 0 ? 'refused' : 'opened',
    nativeRights: libc.func('chmod', 'int', ['str', 'int'])(secretFile, 0o666) < 0 ? 'refused' : 'changed',
    nativeTimes: libc.func('utimes', 'int', ['str', 'uintptr_t'])(secretFile, 0) < 0 ? 'refused' : 'changed',
    nativeAttribute: libc.func('setxattr', 'int', ['str', 'str', 'str', 'size_t', 'int'])(secretFile, 'user.x', 'x', 1, 0) < 0 ? 'refused' : 'changed',
    nativeWatch: libc.func('inotify_init', 'int', [])() < 0 ? 'refused' : 'watches',
    nativeLimitOfHub: libc.func('prlimit', 'int', ['int', 'int', 'uintptr_t', 'uintptr_t'])(hubPid, 7, 0, 0) < 0 ? 'refused' : 'read',
    nativePriorityOfHub: libc.func('setpriority', 'int', ['int', 'uint', 'int'])(0, hubPid, 19) < 0 ? 'refused' : 'changed',
    nativeSignalByFile: libc.func('fcntl', 'int', ['int', 'int', 'int'])(0, 8, hubPid) < 0 ? 'refused' : 'set',
    openFolders: attempt(() => fs.readdirSync('/proc/self/fd').length > 0),
  };
}
`;

/**
 * Lets every thread that the process has, also those that it started before any code of the project, try to open a
 * file.
 */
const threadsSource = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char *target;
static atomic_int answered, opened;

static void try_here(int signal) {
  (void)signal;
  int file = open(target, O_RDONLY);
  if (file >= 0) { atomic_fetch_add(&opened, 1); close(file); }
  atomic_fetch_add(&answered, 1);
}

int opened_by_threads(const char *path) {
  struct sigaction action = {0};
  struct timespec pause = {0, 10000000};
  int asked = 0, process = getpid();
  target = path;
  action.sa_handler = try_here;
  action.sa_flags = SA_RESTART;
  sigaction(SIGURG, &action, 0);
  for (int thread = process; thread < process + 256; thread++) asked += syscall(SYS_tgkill, process, thread, SIGURG) == 0;
  for (int i = 0; i < 200 && atomic_load(&answered) < asked; i++) nanosleep(&pause, 0);
  /* Threads that block signals do not answer; the main thread and those of V8 do. */
  return atomic_load(&answered) < 2 ? -1 : atomic_load(&opened);
}
`;

/** Null where there is no C compiler. */
function compileThreads(folder: string): string | null {
  const [source, library] = [join(folder, 'threads.c'), join(folder, 'threads.so')];
  writeFileSync(source, threadsSource);
  return spawnSync('cc', ['-shared', '-fPIC', '-o', library, source]).status === 0 ? library : null;
}

/** Writes a project that attacks while its data load, and prints how each attack ended. @returns its folder */
export function writeAttackProject(parent: string, targets: Targets, permissions = '{}'): string {
  const folder = join(parent, 'attack');
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'project.ts'),
    `
import { defineProject, gaussianBlobs, Generator, splitDataset, tf, z } from 'tutti-ensembles';
${attacksWith(compileThreads(folder))}
export default defineProject({
  name: 'Attack',
  description: 'Tries what it must not do.',
  task: 'classification',
  permissions: ${permissions},
  hyperparameters: z.object({ allocate: z.boolean().default(false) }),
  defaults: { members: 1, maxEpochs: 1, batchSize: 16, devices: 'cpu' },
  data: async ({ seed, hyperparameters }) => {
    console.log('ATTACKS ' + JSON.stringify(await attack(${JSON.stringify(targets)})));
    if (hyperparameters.allocate) allocate();
    return splitDataset(gaussianBlobs({ samples: 120, seed }), { validation: 30, test: 30 }, new Generator(seed, 'split'));
  },
  model: ({ targetSize }) => tf.sequential({ layers: [tf.layers.dense({ inputShape: [2], units: targetSize })] }),
});

function allocate() {
  const kept = [];
  for (let megabytes = 64; ; megabytes += 64) {
    kept.push(new Float32Array(16 * 2 ** 20).fill(1));
    console.log('ALLOCATED ' + megabytes);
  }
}
`,
  );
  return folder;
}
