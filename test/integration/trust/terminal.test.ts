import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const tutti = fileURLToPath(new URL('../../../src-main/tutti.mjs', import.meta.url));
/** util-linux's `script` gives a command a terminal. */
const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0;

let root: string;
let project: string;
let home: string;

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'tutti-trust-terminal-')));
  project = join(root, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'project.ts'), 'throw new Error("Code of the project ran.");');
});
afterAll(() => rmSync(root, { recursive: true }));
beforeEach(() => {
  home = mkdtempSync(join(root, 'home-'));
});

const environment = (): NodeJS.ProcessEnv => ({ ...process.env, TUTTI_HOME: home, TUTTI_TRUST: '' });

async function ending(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, output };
}

function run(...args: string[]): ReturnType<typeof ending> {
  return ending(spawn(process.execPath, [tutti, ...args], { env: environment(), stdio: ['ignore', 'pipe', 'pipe'] }));
}

/** Runs the command in a terminal, at which a user answers the question. */
function answering(answer: string, ...args: string[]): ReturnType<typeof ending> {
  const command = [process.execPath, tutti, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], { env: environment() });
  child.stdout.on('data', (chunk: Buffer) => {
    if (chunk.toString().includes('[y/N]')) child.stdin.write(`${answer}\n`);
  });
  return ending(child);
}

describe('tutti train on a folder that is not trusted', () => {
  it('refuses with the remedies where nobody can be asked, and runs after --trust, once and for all', async () => {
    const refused = await run('train', project);
    expect(refused.code).toBe(2);
    expect(refused.output).toBe(
      `error: The project in ${project} is not trusted, so nothing of it was run. Training runs ` +
        'its code with your rights. ' +
        `If you trust it: npx tutti trust ${project} (or --trust, or the button Trust on the page Projects).\n`,
    );
    expect(await run('train', project, '--help')).toMatchObject({ code: 2, output: refused.output });
    expect((await run('train', project, '--trust')).output).toContain('Code of the project ran.');
    expect((await run('train', project)).output).toContain('Code of the project ran.');
    expect(await run('trust')).toEqual({ code: 0, output: `${project}\n` });
    expect((await run('trust', '--remove', project)).code).toBe(0);
    expect(await run('train', project)).toMatchObject({ code: 2, output: refused.output });
    expect((await run('trust')).output).toBe('No folders are trusted but the examples.\n');
  });

  it.skipIf(!hasScript)(`asks in a terminal${hasScript ? '' : ' (util-linux has no `script` here)'}`, async () => {
    const no = await answering('n', 'train', project);
    expect(no.code).toBe(2);
    expect(no.output).toContain(
      `You have not trusted the folder ${project} yet. Training runs its code with your rights.`,
    );
    expect(no.output).toContain('is not trusted, so nothing of it was run.');
    const empty = await answering('', 'train', project);
    expect(empty.output).toContain('is not trusted, so nothing of it was run.');
    expect((await answering('y', 'train', project)).output).toContain('Code of the project ran.');
    const again = await run('train', project);
    expect(again.output).toContain('Code of the project ran.');
  });

  it('trains the examples without a question', async () => {
    const example = fileURLToPath(new URL('../../../examples/00_heteroscedastic_regression', import.meta.url));
    expect(await run('train', example, '--help')).toMatchObject({ code: 0 });
  });
});
