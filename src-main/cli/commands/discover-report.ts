import { tutti } from '../../../core/text/program.ts';
import { hitsOf, type SearchProgress } from '../../../core/discovery/progress.ts';
import { armsOf, type Search } from '../../../core/discovery/search.ts';
import { estimate, formatEstimate } from '../../../core/numeric/estimate.ts';
import type { Pool } from '../../../core/protocol/run/pool-task.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { printable } from '../../../core/text/printable.ts';
import type { SearchEnd, SearchUpdate } from '../../discovery/run-search.ts';

/** What an arm of a search has found. */
export interface ArmHits {
  arm: string;
  labels: number;
  hits: number;
}

/** Prints a search's progress: a line for each round of each arm, or one JSON object a line. */
export class SearchReport {
  readonly #output: { write: (text: string) => unknown };
  readonly #isJson: boolean;
  readonly #isQuiet: boolean;
  #search: Search | null = null;

  constructor(
    output: { write: (text: string) => unknown },
    { json = false, quiet = false }: { json?: boolean; quiet?: boolean },
  ) {
    this.#output = output;
    this.#isJson = json;
    this.#isQuiet = quiet;
  }

  begin(search: Search, pool: Pool, folder: string): void {
    this.#search = search;
    const { samples, excluded, name } = pool;
    if (this.#isJson)
      return this.#json({ type: 'search', id: search.id, folder, arms: armsOf(search), candidates: samples, excluded });
    if (this.#isQuiet) return;
    const { rounds, perRound, start } = search;
    this.#say(
      `${search.name}: ${samples.toLocaleString('en')} candidates of ${name}, ${start} labels to begin with, ` +
        `${rounds} rounds of ${perRound}`,
    );
    for (const sentence of excluded.slice(0, 10)) this.#say(`  left out: ${sentence}`);
    if (excluded.length > 10) this.#say(`  and ${excluded.length - 10} more; pool/pool.json in ${folder} lists all`);
  }

  answered(count: number): void {
    if (this.#isJson) return this.#json({ type: 'answers', labels: count });
    this.#say(`${count} new ${count === 1 ? 'label' : 'labels'} read.`);
  }

  take(update: SearchUpdate): void {
    if (this.#isJson) return this.#json(update);
    if (this.#isQuiet) return;
    if (update.type === 'labelled') this.#say(`  start: ${update.labels} labels`);
    if (update.type !== 'chosen') return;
    const { choice, labels, hits } = update;
    const { arm, round, seconds } = choice;
    const time = (seconds.train + seconds.choose).toFixed(1);
    this.#say(`  round ${round} of ${this.#search?.rounds ?? '?'}, ${arm}: ${labels} labels, ${hits} hits, ${time} s`);
  }

  /** @returns what each arm has found */
  end(end: SearchEnd, progress: SearchProgress, folder: string): ArmHits[] {
    const search = this.#search;
    if (search === null) return [];
    const arms = armsOf(search).map((arm) => {
      const hits = hitsOf(search, progress, arm);
      return { arm, labels: hits.length, hits: hits.at(-1) ?? 0 };
    });
    if (this.#isJson) this.#json({ ...end, type: 'end', kind: end.kind, arms, folder });
    else this.#tellEnd(end, arms, search, folder);
    return arms;
  }

  /** What the arms of searches that differ in their seeds have found, on average. */
  seeds(results: readonly { seed: number; arms: readonly ArmHits[] }[]): void {
    const seeds = results.map(({ seed }) => seed);
    const [first] = results;
    const arms = first.arms.map(({ arm }) => {
      const own = results.flatMap((result) => result.arms.filter((other) => other.arm === arm));
      return { arm, labels: estimate(own.map(({ labels }) => labels)), hits: estimate(own.map(({ hits }) => hits)) };
    });
    if (this.#isJson) return this.#json({ type: 'seeds', seeds, arms });
    this.#say('');
    this.#say(`Mean ± standard error (s / √n) over ${seeds.length} searches with the seeds ${seeds.join(', ')}:`);
    for (const { arm, labels, hits } of arms)
      this.#say(`${arm}: ${formatEstimate(hits)} hits among ${Math.round(labels.mean)} labels`);
  }

  /** @param resumed what `--resume` takes to continue */
  stopped(folder: string, resumed: string): void {
    if (this.#isJson) return this.#json({ type: 'stopped', folder });
    this.#say(`Stopped. Continue with the same choices: ${tutti} discover --resume ${resumed}`);
  }

  #tellEnd(end: SearchEnd, arms: readonly ArmHits[], { id }: Search, folder: string): void {
    if (end.kind === 'waiting') {
      this.#say(`Fill the column label in ${end.question}, then continue:`);
      return this.#say(`  ${tutti} discover --resume ${id} --answers ${end.question}`);
    }
    const random = arms.find(({ arm }) => arm === 'random');
    for (const { arm, labels, hits } of arms) {
      const factor =
        random === undefined || random.hits === 0 ? '' : `, ${(hits / random.hits).toFixed(1)} times those of random`;
      this.#say(`${arm}: ${hits} hits among ${labels} labels${arm === 'random' ? '' : factor}`);
    }
    this.#say(folder);
  }

  #json(value: unknown): void {
    this.#output.write(`${toJson(value)}\n`);
  }

  #say(line: string): void {
    this.#output.write(`${printable(line)}\n`);
  }
}
