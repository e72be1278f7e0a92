import { createInterface } from 'node:readline/promises';
import { describePermissions, missingPermissions, type Permissions } from '../../core/protocol/run/permissions.ts';
import {
  allowedPermissions,
  allowPermissions,
  requirePermissions,
  requireTrust,
  trustFolder,
  trustOf,
} from '../trust/project-trust.ts';

/** How the user answers questions about a project: by `--trust`, at the terminal, or not at all. */
export interface Consent {
  /** `--trust`: yes to everything. */
  isGiven: boolean;
  /** Asks on the terminal; null where nobody can answer. Resolves to true for yes. */
  ask: ((question: string) => Promise<boolean>) | null;
}

export function consentOf(isGiven: boolean): Consent {
  return { isGiven, ask: canAsk() ? askOnTerminal : null };
}

/** Whether somebody can answer a question. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY;
}

/** Makes sure that the user trusts a project's folder, before anything of it runs. @throws UntrustedError if not */
export async function ensureTrusted(folder: string, { isGiven, ask }: Consent): Promise<void> {
  const { by, folder: real, warning } = trustOf(folder);
  if (by !== null) return;
  const question = [
    `You have not trusted the folder ${real} yet. Training runs its code with your rights.`,
    ...(warning === null ? [] : [warning]),
    'Do you trust it and the folders in it? [y/N] ',
  ].join('\n');
  if (isGiven || (ask !== null && (await ask(question)))) await trustFolder(real);
  requireTrust(folder);
}

/** Makes sure that the user allows what a project asks for beyond what projects get. @throws UntrustedError if not */
export async function ensureAllowed(folder: string, asked: Permissions, { isGiven, ask }: Consent): Promise<void> {
  const missing = missingPermissions(asked, allowedPermissions(folder));
  if (missing === null) return;
  const listed = describePermissions(missing).map((phrase) => `  it ${phrase}`);
  const question = ['The project asks for more than projects get:', ...listed, 'Do you allow that? [y/N] '].join('\n');
  if (isGiven || (ask !== null && (await ask(question)))) await allowPermissions(folder, asked);
  requirePermissions(folder, asked);
}

/** Asks on stderr, because stdout may be read by a program. */
export async function askOnTerminal(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}
