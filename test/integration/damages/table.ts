import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { format } from 'prettier';
import { commands } from './commands.ts';
import { damages } from './damages.ts';
import type { Outcome } from './outcomes.ts';
import { fileKinds } from './sample-run.ts';

const page = resolve(import.meta.dirname, '../../../docs/damaged-files.md');
const [begin, end] = ['<!-- The table of damages begins. -->', '<!-- The table of damages ends. -->'];

const names = Object.keys(commands);
/** The columns of the table; a command that it does not name works. */
const exceptions: readonly Outcome[] = ['names it', 'goes without', 'refuses'];

/** Outcomes by file, damage and command. */
export class DamageTable {
  readonly #outcomes = new Map<string, Outcome>();

  /** The table in `docs/damaged-files.md`. Rows name the damages of a file that have the same outcomes. */
  static read(): DamageTable {
    const table = new DamageTable();
    const lines = partOf(readFileSync(page, 'utf8'))[1]
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    for (const line of lines) {
      const [file, of, ...cells] = line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim());
      for (const damage of of === 'any' ? Object.keys(damages) : of.split(', ')) {
        const set = (command: string, outcome: Outcome): void =>
          table.set(file.replaceAll('`', ''), damage, command, outcome);
        for (const command of names) set(command, 'works');
        for (const [column, outcome] of exceptions.entries()) {
          const named = cells[column] === 'all' ? names : cells[column].split(', ');
          for (const command of named.filter((name) => name !== '')) set(command, outcome);
        }
      }
    }
    return table;
  }

  get(file: string, damage: string, command: string): Outcome | undefined {
    return this.#outcomes.get([file, damage, command].join('|'));
  }

  set(file: string, damage: string, command: string, outcome: Outcome): void {
    this.#outcomes.set([file, damage, command].join('|'), outcome);
  }

  /** Replaces the table in `docs/damaged-files.md`. */
  async write(): Promise<void> {
    const head = [`| file | damage | ${exceptions.join(' | ')} |`, `|${' --- |'.repeat(exceptions.length + 2)}`];
    const [before, , after] = partOf(readFileSync(page, 'utf8'));
    const text = `${before}${begin}\n\n${[...head, ...this.#rows()].join('\n')}\n\n${end}${after}`;
    writeFileSync(page, await format(text, { parser: 'markdown', printWidth: 120, proseWrap: 'preserve' }));
  }

  #rows(): string[] {
    return fileKinds.flatMap(([file]) => {
      const cellsOf = (damage: string): string =>
        exceptions
          .map((outcome) => names.filter((command) => this.get(file, damage, command) === outcome))
          .map((named) => (named.length === names.length ? 'all' : named.join(', ')))
          .join(' | ');
      const known = Object.keys(damages).filter((damage) =>
        names.some((command) => this.get(file, damage, command) !== undefined),
      );
      const rows = [...Map.groupBy(known, cellsOf)];
      return rows.map(([cells, of]) => `| \`${file}\` | ${rows.length > 1 ? of.join(', ') : 'any'} | ${cells} |`);
    });
  }
}

function partOf(text: string): [before: string, table: string, after: string] {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${page} has no place for the table: it needs ${begin} and ${end}.`);
  return [text.slice(0, from), text.slice(from + begin.length, to), text.slice(to + end.length)];
}
