import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { createInstrumenter } from 'istanbul-lib-instrument';

/** The counters of one file, as istanbul names them: per function, and per path of each branch. */
interface FileCounters {
  f: Record<string, number>;
  b: Record<string, number[]>;
}

const coverageVariable = '__tuttiCoverage';
const root = new URL('../../../', import.meta.url).href;
const product = /^(core|src-main|workers)\//;

/** Counts the executed branches of all product files that this thread loads from now on. */
export function instrumentProduct(): void {
  const instrumenter = createInstrumenter({ esModules: true, compact: false, coverageVariable, reportLogic: true });
  registerHooks({
    load(url, context, nextLoad) {
      if (!url.endsWith('.ts') || !url.startsWith(root) || !product.test(url.slice(root.length))) {
        return nextLoad(url, context);
      }
      const file = fileURLToPath(url);
      const source = instrumenter.instrumentSync(stripTypeScriptTypes(readFileSync(file, 'utf8')), file);
      return { format: 'module', source, shortCircuit: true };
    },
  });
}

/** The counters of one file as arrays, and the buckets of counts that were seen at each place. */
interface FilePlaces {
  functions: Record<string, number>;
  functionKeys: string[];
  branches: number[][];
  seen: Uint8Array;
}

/**
 * The branches and functions that cases have reached, each with how often (1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128 or
 * more times in one case), as AFL counts them (https://lcamtuf.coredump.cx/afl/technical_details.txt, section 1).
 */
export class Coverage {
  readonly #files = new Map<string, FilePlaces>();
  /** Number of branches and functions that were reached, whatever their counts. */
  reached = 0;

  /** Takes and clears the counters. @returns whether the case reached something new */
  takeNews(): boolean {
    let isNew = false;
    const counters = countersOf();
    for (const file in counters) {
      const places = this.#files.get(file) ?? this.#open(file, counters[file]);
      const { functions, functionKeys, branches, seen } = places;
      let place = 0;
      for (const key of functionKeys) {
        if (functions[key] > 0) isNew = this.#note(seen, place, functions[key]) || isNew;
        functions[key] = 0;
        place += 1;
      }
      for (const counts of branches) {
        for (let path = 0; path < counts.length; path += 1, place += 1) {
          if (counts[path] > 0) isNew = this.#note(seen, place, counts[path]) || isNew;
          counts[path] = 0;
        }
      }
    }
    return isNew;
  }

  #open(file: string, { f, b }: FileCounters): FilePlaces {
    const [functionKeys, branches] = [Object.keys(f), Object.values(b)];
    const count = branches.reduce((sum, paths) => sum + paths.length, functionKeys.length);
    const places = { functions: f, functionKeys, branches, seen: new Uint8Array(count) };
    this.#files.set(file, places);
    return places;
  }

  #note(seen: Uint8Array, place: number, count: number): boolean {
    const bucket = 1 << bucketOf(count);
    if (seen[place] === 0) this.reached += 1;
    if ((seen[place] & bucket) !== 0) return false;
    seen[place] |= bucket;
    return true;
  }
}

function bucketOf(count: number): number {
  if (count < 4) return count - 1;
  return count >= 128 ? 7 : count >= 32 ? 6 : count >= 16 ? 5 : count >= 8 ? 4 : 3;
}

function countersOf(): Record<string, FileCounters> {
  return (globalThis as { [coverageVariable]?: Record<string, FileCounters> })[coverageVariable] ?? {};
}
