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
  const child = spawn(node, [self, ...process.argv.slice(2)], { stdio: 'inherit' });
  // The terminal sends Ctrl-C to both processes; the one that trains decides what becomes of it.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGTERM' ? 143 : 1)));
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
