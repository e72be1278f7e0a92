import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import type { RunRecord } from '../../core/protocol/run/record.ts';

export const tutti = fileURLToPath(new URL('../../src-main/tutti.mjs', import.meta.url));

/** A project outside the repository. It imports packages that the worker provides. */
const projectSource = `
import { defineProject, gaussianBlobs, Generator, splitDataset, tf, z } from 'tutti-ensembles';

export default defineProject({
  name: 'Blobs',
  description: 'Three blobs in the plane.',
  task: 'classification',
  hyperparameters: z.object({ width: z.int().min(1).default(8).meta({ help: 'Units of the hidden layer.' }) }),
  defaults: { maxEpochs: 3, batchSize: 16, logEverySteps: 2, checkpoints: { stateEverySeconds: 0 } },
  data: ({ seed }) =>
    splitDataset(gaussianBlobs({ samples: 120, seed }), { validation: 30, test: 30 }, new Generator(seed, 'split')),
  model: ({ hyperparameters, featureShape, targetSize }) =>
    tf.sequential({
      layers: [
        tf.layers.dense({ inputShape: [...featureShape], units: hyperparameters.width, activation: 'relu' }),
        tf.layers.dense({ units: targetSize }),
      ],
    }),
});
`;

export type Command = ChildProcessByStdio<null, Readable, Readable>;

/** One line of a command's `--json`. */
export interface Line {
  type: string;
  record?: RunRecord;
  pid?: number;
  [member: string]: unknown;
}

export function parseLine(line: string): Line {
  return JSON.parse(line);
}

export function exitCode(command: Command): Promise<number | null> {
  return new Promise((resolve) => void command.on('exit', resolve));
}

/**
 * The command in a temporary folder with a project, for all tests of a file. All its programs run from the sources,
 * also workers.
 */
export class CommandLine {
  folder = '';
  project = '';

  static use(): CommandLine {
    const line = new CommandLine();
    beforeAll(async () => {
      line.folder = await mkdtemp(join(tmpdir(), 'tutti-cli-test-'));
      line.project = join(line.folder, 'blobs');
      await mkdir(line.project);
      await writeFile(join(line.project, 'project.ts'), projectSource);
    });
    afterAll(async () => {
      await rm(line.folder, { recursive: true, force: true });
    });
    return line;
  }

  get env(): NodeJS.ProcessEnv {
    return { ...process.env, TUTTI_PROGRAMS: undefined, TUTTI_HOME: join(this.folder, 'home') };
  }

  start(...args: string[]): Command {
    const options = { env: this.env, cwd: this.folder };
    return spawn(process.execPath, [tutti, ...args], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  async run(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const command = this.start(...args);
    const [code, stdout, stderr] = await Promise.all([exitCode(command), text(command.stdout), text(command.stderr)]);
    return { code, stdout, stderr };
  }

  /** Trains without end until the first metrics are there, then sends the signal. */
  async interrupt(signal: NodeJS.Signals): Promise<{ code: number | null; lines: Line[]; last: RunRecord }> {
    const command = this.start('train', this.project, '--max-epochs', '1000000', '--json');
    command.stderr.resume();
    const exited = exitCode(command);
    const lines: Line[] = [];
    for await (const line of createInterface({ input: command.stdout })) {
      lines.push(parseLine(line));
      if (lines.findIndex(({ type }) => type === 'point') === lines.length - 1) command.kill(signal);
    }
    const last = lines.at(-1);
    if (last?.type !== 'ended' || last.record === undefined)
      throw new Error(`The last line tells no end with a record: ${JSON.stringify(last)}`);
    return { code: await exited, lines, last: last.record };
  }
}
