import { styleText } from 'node:util';
import type { RunStatus } from '../../core/protocol/run/record.ts';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** How an output shows text. */
export interface Look {
  /** Columns of the terminal; infinite where the output is no terminal, so that other programs get whole values. */
  width: number;
  /** Colours text where the output shows colours. */
  paint: (style: Style | null, text: string) => string;
}

/** Whole lines without colours. */
export const plainLook: Look = { width: Infinity, paint: (_style, text) => text };

/** The look of an output, and what the user asks for by `NO_COLOR` (no-color.org) and `FORCE_COLOR`. */
export function lookOf(
  { isTTY = false, columns }: { isTTY?: boolean; columns?: number },
  environment: NodeJS.ProcessEnv = process.env,
): Look {
  const hasColours = showsColours(isTTY, environment);
  return {
    width: isTTY ? (columns ?? 80) : Infinity,
    paint: (style, text) =>
      hasColours && style !== null && text !== '' ? styleText(style, text, { validateStream: false }) : text,
  };
}

function showsColours(isTTY: boolean, { FORCE_COLOR, NO_COLOR, TERM }: NodeJS.ProcessEnv): boolean {
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  return isTTY && TERM !== 'dumb';
}

/** The colour of a run's status. */
export const statusStyles: Readonly<Record<RunStatus, Style>> = {
  created: 'cyan',
  running: 'cyan',
  finished: 'green',
  stopped: 'yellow',
  interrupted: 'yellow',
  failed: 'red',
};
