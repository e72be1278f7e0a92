#!/usr/bin/env node
// The `tutti` command. Any Node from 20 on can start it; older ones than 24, which cannot run TypeScript, hand over to the Node
// that the package brings along.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as modules from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const self = fileURLToPath(import.meta.url);
const [major] = process.versions.node.split('.').map(Number);
const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];

if (major >= 24) {
  silenceExperimentalWarnings();
  const { compileCache } = await import('./store/home.ts');
  const { secureHome } = await import('./store/private-home.ts');
  // Before anything in it runs.
  await secureHome();
  // Halves the time to start. Where it cannot be written, that is all that is lost.
  modules.enableCompileCache(compileCache());
  await import('./cli.ts');
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
  if (process.execve !== undefined && !node.endsWith('.cmd')) {
    silenceExperimentalWarnings();
    return process.execve(node, [node, ...args], process.env);
  }
  const env = { ...process.env, TUTTI_LAUNCHER: String(process.pid) };
  const child = spawn(node, args, { stdio: 'inherit', env, shell: node.endsWith('.cmd') });
  // The process that trains decides what becomes of a signal. It takes copies of one Ctrl-C as one. If this process is killed, it notices
  // (processes/launcher-guard.ts).
  for (const signal of passedOn) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`Tutti could not start ${node}: ${error.message}. \`npm ci\` installs it again.`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    // Ends by the same signal, so that shells see the same exit code.
    for (const passed of passedOn) process.removeAllListeners(passed);
    process.kill(process.pid, signal);
  });
}

function ownNode() {
  const name = process.platform === 'win32' ? 'node.cmd' : 'node';
  const binary = join(dirname(self), '..', 'node_modules', '.bin', name);
  if (existsSync(binary)) return binary;
  console.error(
    `Tutti needs Node 24 or newer, and this is ${process.version}. \`npm ci\` brings one along, unless optional dependencies ` +
      'were left out: run it again without --omit=optional.',
  );
  process.exit(1);
}
