import type { DrawingReply, DrawingTask, MoleculeDrawing } from '../../core/protocol/run/pool-task.ts';
import { drawMoleculesEntry } from '../processes/node-process.ts';
import { StandingProcess } from '../processes/standing-process.ts';
import { WarmProcess } from '../processes/warm-process.ts';
import { grantFor } from '../trust/grant.ts';

/** Some hundred molecules take a few seconds. */
const timeoutMs = 120_000;
const mostKept = 5000;

/**
 * Draws molecules in a process, which stays for a while, and keeps the drawings. RDKit reads texts of others there, and
 * not in the hub.
 */
export class Drawings {
  readonly #process = new WarmProcess();
  readonly #closing = new AbortController();
  readonly #kept = new Map<string, MoleculeDrawing | null>();
  /** Ends when the latest question has its answer. */
  #latest: Promise<unknown> = Promise.resolve();

  /** @returns null for texts that are no SMILES, or molecules too large to be read */
  async draw(smiles: readonly string[]): Promise<(MoleculeDrawing | null)[]> {
    const answer = this.#latest.then(() => this.#drawMissing(smiles));
    // The page gets its own failure; the next question does not.
    this.#latest = answer.catch(() => undefined);
    await answer;
    return smiles.map((text) => this.#kept.get(text) ?? null);
  }

  /** Aborts what still runs, and ends the process. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#latest;
    this.#process.end();
  }

  async #drawMissing(smiles: readonly string[]): Promise<void> {
    const wanted = [...new Set(smiles)];
    const isMissing = (text: string): boolean => !this.#kept.has(text);
    if (!wanted.some(isMissing)) return;
    // What is wanted now must not be lost with the rest.
    if (this.#kept.size + wanted.filter(isMissing).length > mostKept) this.#kept.clear();
    const missing = wanted.filter(isMissing);
    const task: DrawingTask = { smiles: missing };
    const reply = await this.#process.ask<DrawingReply>('molecules', startDrawing, {
      message: task,
      timeoutMs,
      signal: this.#closing.signal,
      subject: 'The molecules could not be drawn',
    });
    if (reply.type === 'failed') throw new Error(reply.message);
    missing.forEach((text, at) => this.#kept.set(text, reply.drawings[at]));
  }
}

function startDrawing(): StandingProcess {
  // It runs no project's code and reads nothing but Tutti.
  return new StandingProcess({
    entry: drawMoleculesEntry,
    args: [],
    grant: grantFor({ project: null, isDescribing: true }),
  });
}
