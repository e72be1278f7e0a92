import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { Search } from '../../core/discovery/search.ts';
import type { Pool } from '../../core/protocol/run/pool-task.ts';
import { messageOf } from '../../core/text/errors.ts';
import type { OpenedPool } from './pool.ts';
import { startChild } from '../processes/node-process.ts';

/**
 * Asks for labels. Null: they will come later, and the search waits.
 * @throws Error if the oracle fails, or its labels are no labels
 */
export type AskOracle = (indices: readonly number[]) => Promise<number[] | null>;

/** The oracle of a search. That of a person never answers at once. */
export function oracleOf({ oracle }: Search, opened: OpenedPool, signal: AbortSignal): AskOracle {
  switch (oracle.kind) {
    case 'hidden':
      return (indices) => Promise.resolve(indices.map((index) => opened.targets[index]));
    case 'command':
      return (indices) => askCommand(oracle.command, indices, opened.pool, signal);
    case 'person':
      return () => Promise.resolve(null);
  }
}

const answerSchema = z.looseObject({ index: z.int().min(0), label: z.union([z.number(), z.string()]) });

/**
 * Starts the user's command in a shell. It gets one JSON object a line for each candidate, with its index and texts,
 * and prints one a line for each, with `index` and `label`.
 */
async function askCommand(
  command: string,
  indices: readonly number[],
  pool: Pool,
  signal: AbortSignal,
): Promise<number[]> {
  const child = startChild(command, () =>
    spawn(command, { shell: true, windowsHide: true, stdio: ['pipe', 'pipe', 'inherit'], signal }),
  );
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  // A command that reads nothing closes the pipe; what it prints decides.
  child.stdin.on('error', () => undefined);
  child.stdin.end(indices.map((index) => `${JSON.stringify({ index, ...textsOf(pool, index) })}\n`).join(''));
  const [output, code] = await Promise.all([text(child.stdout), ended]);
  if (code !== 0)
    throw new Error(
      `The command "${command}" of the oracle ended with code ${code}. Its output is above; correct it and resume.`,
    );
  const found = new Map(
    output.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [readAnswer(line, at, command, pool)])),
  );
  return indices.map((index) => {
    const label = found.get(index);
    if (label !== undefined) return label;
    throw new Error(
      `The command "${command}" gave no label for candidate ${index}. It must print one line for each ` +
        'candidate that it gets.',
    );
  });
}

function readAnswer(line: string, at: number, command: string, pool: Pool): [number, number] {
  try {
    const { index, label } = answerSchema.parse(JSON.parse(line));
    return [index, labelOf(label, pool)];
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    throw new Error(
      `Line ${at + 1} of the command "${command}" is no label (${reason}). A line looks like {"index": 12, ` +
        '"label": 1}.',
      { cause: error },
    );
  }
}

/** A label in words or numbers: the name or the number of a class, or a value. @throws Error if it is neither */
export function labelOf(label: number | string, { classNames, classCount, name }: Pool): number {
  const named = classNames?.indexOf(String(label)) ?? -1;
  if (named >= 0) return named;
  const value = typeof label === 'number' ? label : label.trim() === '' ? NaN : Number(label);
  const fits =
    classCount === null ? Number.isFinite(value) : Number.isInteger(value) && value >= 0 && value < classCount;
  if (fits) return value;
  const rule =
    classCount === null
      ? 'labels are numbers'
      : `labels are ${classNames === null ? '' : `${classNames.join(', ')}, or `}the numbers 0 to ${classCount - 1}`;
  throw new Error(`"${label}" is no label of the pool "${name}": ${rule}`);
}

/** The texts of a candidate, by column. */
export function textsOf({ texts }: Pool, index: number): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([column, values]) => [column, values[index]]));
}
