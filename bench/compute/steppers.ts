import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { Blas } from '../../core/protocol/machine/devices.ts';
import { nodeFlags } from '../../src-main/processes/node-process.ts';

export const peersFolder = join(import.meta.dirname, '..', 'peers');

const helloSchema = z.object({ description: z.string() });
const answerSchema = z.object({
  stepsMs: z.array(z.number()),
  /** Tensors and bytes that the backend holds; 0 if a peer does not report them. */
  tensors: z.number().default(0),
  heapBytes: z.number().default(0),
});
type Answer = z.output<typeof answerSchema>;

/** A process that trains one of the suite's networks for the requested number of steps, and is idle otherwise. */
export class Stepper {
  readonly description: string;
  private readonly child: ChildProcess;
  private readonly lines: AsyncIterator<string>;

  private constructor(child: ChildProcess, lines: AsyncIterator<string>, description: string) {
    this.child = child;
    this.lines = lines;
    this.description = description;
  }

  static ofTutti(blas: Blas | null, threads = 1): Promise<Stepper> {
    const entry = join(import.meta.dirname, 'stepper.ts');
    return Stepper.start(process.execPath, [...nodeFlags, entry, JSON.stringify(blas), String(threads)], {});
  }

  /** PyTorch. `coreType` is the processor whose kernels its OpenBLAS uses; null: the library's choice. */
  static ofPyTorch({ python }: Peer, coreType: string | null, threads = 1): Promise<Stepper> {
    const cores = coreType === null ? {} : { OPENBLAS_CORETYPE: coreType };
    return Stepper.start(python, [join(peersFolder, 'training_step.py')], {
      OMP_NUM_THREADS: String(threads),
      ...cores,
    });
  }

  private static async start(command: string, args: string[], environment: NodeJS.ProcessEnv): Promise<Stepper> {
    const child = spawn(command, args, {
      env: { ...process.env, ...environment },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    if (child.stdout === null) throw new Error(`${command} has no output to read.`);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const { description } = helloSchema.parse(JSON.parse(await nextLine(lines, command)));
    return new Stepper(child, lines, description);
  }

  async train(name: string, steps: number): Promise<Answer> {
    this.child.stdin?.write(`${name} ${steps}\n`);
    return answerSchema.parse(JSON.parse(await nextLine(this.lines, this.description)));
  }

  stop(): void {
    this.child.stdin?.end();
  }
}

async function nextLine(lines: AsyncIterator<string>, who: string): Promise<string> {
  const { done, value } = await lines.next();
  if (done) throw new Error(`${who} ended without an answer; see its output above.`);
  return value;
}

/** A Python that has PyTorch. */
export interface Peer {
  python: string;
  version: string;
}

/** The first python3, on the PATH or of the system, that has torch; null if none has. */
export function findPeer(): Peer | null {
  for (const python of ['python3', '/usr/bin/python3']) {
    const { status, stdout } = spawnSync(python, ['-c', 'import torch; print(torch.__version__)'], {
      encoding: 'utf8',
    });
    if (status === 0) return { python, version: stdout.trim() };
  }
  return null;
}
