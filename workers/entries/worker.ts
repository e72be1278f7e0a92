import { guardAgainstOrphaning } from '../session/orphan-guard.ts';
import { prepare } from '../session/prepare.ts';
import { RankLink } from '../session/rank-link.ts';
import { Controls } from '../training/controls.ts';

/**
 * Entry of a worker process: joins the hub, trains one rank, or several as one computation, and leaves. Started by
 * `src-main/runs/attempt/worker-process.ts`. Each rank has a connection of its own, so that to the hub it is like any other.
 */

const [socketPath, ranksText, token, guard] = process.argv.slice(2);
const ranks = ranksText.split(',').map(Number);
const controls = ranks.map((rank) => new Controls(rank));

if (guard === 'unguarded') guardAgainstOrphaning();
const links = await Promise.all(ranks.map(connect));
await work();
await Promise.all(links.map((link) => link.dismissed));
process.exit(0);

function connect(rank: number, position: number): Promise<RankLink> {
  // Every rank is sent the same controls. All of the process heed those of its first rank, at once: so they pause at the same step.
  const heeding = position === 0 ? controls : [];
  return RankLink.connect({
    socketPath,
    rank,
    token,
    controls: controls[position],
    heed: (control) => heeding.forEach((of) => of.take(control)),
    ranks: ranks.length,
  });
}

async function work(): Promise<void> {
  const seats = await Promise.all(links.map((link) => link.seat()));
  try {
    const prepared = await prepare(seats);
    await Promise.all(links.map((link, i) => link.train(seats[i], prepared[i])));
  } catch (error) {
    // What fails while they are prepared is the same for all: the first tells it.
    const [first, ...others] = links;
    first.fail(error);
    for (const link of others) link.fail(error, true);
  }
}
