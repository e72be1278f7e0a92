import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';

const tutti = join(import.meta.dirname, '..', 'src-main', 'tutti.mjs');
const lineSchema = z.looseObject({ type: z.string() });

/** One line of `tutti train --json`, and the time of its arrival. */
export interface Line {
  afterMs: number;
  update: z.output<typeof lineSchema>;
}

export interface CommandRun {
  durationMs: number;
  lines: Line[];
  /** Largest resident set of the command's process (the hub), sampled at each line. */
  hubPeakBytes: number;
}

/**
 * The home folder of all commands of this process. As on a user's machine, the second command finds compiled code in
 * its cache.
 */
const home = mkdtempSync(join(tmpdir(), 'tutti-bench-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

/** Runs `tutti train ... --json` as a user does. @throws Error if it fails */
export async function runTrainCommand(args: readonly string[]): Promise<CommandRun> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [tutti, 'train', ...args, '--json'], {
    env: { ...process.env, TUTTI_HOME: home, TUTTI_TRUST: join(import.meta.dirname, '..') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: Line[] = [];
  let hubPeakBytes = 0;
  for await (const text of createInterface({ input: child.stdout })) {
    lines.push({ afterMs: performance.now() - startedMs, update: lineSchema.parse(JSON.parse(text)) });
    hubPeakBytes = Math.max(hubPeakBytes, await residentBytes(child));
  }
  const code = await exitCode(child);
  if (code !== 0) throw new Error(`tutti train ${args.join(' ')} ended with exit code ${code}.`);
  return { durationMs: performance.now() - startedMs, lines, hubPeakBytes };
}

function exitCode(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.on('exit', (code) => resolve(code)));
}

/** 0 if the system is not Linux, or the process has ended. */
async function residentBytes(child: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}
