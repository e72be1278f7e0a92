/**
 * Runs scripts of package.json beside each other, as many at a time as there are cores:
 * `node scripts/run-together.ts typecheck lint:code`. Starts them in the given order, so name the longest first. Prints
 * the output of each when it has ended. Fails if any of them failed, and names those.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const { scripts }: { scripts: Record<string, string> } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);
const names = process.argv.slice(2);
const unknown = names.find((name) => scripts[name] === undefined);
if (unknown !== undefined) throw new Error(`package.json has no script "${unknown}".`);

const waiting = [...names];
const failed: string[] = [];
await Promise.all(Array.from({ length: availableParallelism() }, work));
if (failed.length > 0) {
  console.error(`Failed: ${failed.map((name) => `npm run ${name}`).join(', ')}`);
  process.exitCode = 1;
}

async function work(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const { isFine, output, seconds } = await run(scripts[name]);
    if (!isFine) failed.push(name);
    console.log(`${isFine ? '✓' : '✗'} ${name} (${seconds.toFixed(1)} s)`);
    process.stdout.write(output);
  }
}

/** npm has put the commands of the installed packages into the PATH. */
async function run(command: string): Promise<{ isFine: boolean; output: string; seconds: number }> {
  const start = performance.now();
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const [code] = await once(child, 'close');
  return { isFine: code === 0, output, seconds: (performance.now() - start) / 1000 };
}
