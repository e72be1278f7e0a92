import { setSourceMapsSupport } from 'node:module';
import { text } from 'node:stream/consumers';
import { guardAgainstOrphaning } from '../session/orphan-guard.ts';
import { prepare } from '../session/prepare.ts';
import { RankLink } from '../session/rank-link.ts';
import { Controls } from '../training/controls.ts';

/**
 * Entry of a worker process: connects to the hub, trains one rank, or several as one computation, and exits. Started by
 * `src-main/runs/attempt/worker-process.ts`. Each rank has a separate connection, so the hub treats all ranks alike.
 */

const [socketPath, ranksText, guard] = process.argv.slice(2);
// Other users see the command line, so the token comes through the input.
const token = await text(process.stdin);
const ranks = ranksText.split(',').map(Number);
const controls = ranks.map((rank) => new Controls(rank));

/** Ends before its keeper or guard kills it. */
const orphanMs = 3_500;
const orphanExitCode = 3;
let isTraining = false;
let isOrphan = false;

if (guard === 'unguarded') guardAgainstOrphaning();
// Stacks name the places in the source of a compiled project.
setSourceMapsSupport(true, { nodeModules: false });
const links = await Promise.all(ranks.map(connect));
failUncaught(links);
await work();
if (isOrphan) process.exit(orphanExitCode);
await Promise.all(links.map((link) => link.dismissed));
process.exit(0);

function connect(rank: number, position: number): Promise<RankLink> {
  // The hub sends the same controls to every rank. The first rank's controls apply to all ranks of the process at once, so that
  // they pause at the same step.
  const receivers = position === 0 ? controls : [];
  return RankLink.connect({
    socketPath,
    rank,
    token,
    controls: controls[position],
    onHubGone,
    onControl: (control) => receivers.forEach((receiver) => receiver.take(control)),
    ranks: ranks.length,
  });
}

/** Ranks that train save their states, from which the run resumes. Without them there is nothing to save. */
function onHubGone(): void {
  if (!isTraining) process.exit(orphanExitCode);
  if (isOrphan) return;
  isOrphan = true;
  // Nobody reads what the project prints.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  setTimeout(() => process.exit(orphanExitCode), orphanMs);
  for (const link of links) link.loseHub();
}

async function work(): Promise<void> {
  const seats = await Promise.all(links.map((link) => link.seat()));
  try {
    const prepared = await prepare(seats);
    isTraining = true;
    await Promise.all(links.map((link, i) => link.train(seats[i], prepared[i])));
  } catch (error) {
    failAll(links, error);
  }
}

/** An error of preparation, or outside of the training, concerns all ranks: the first reports it, the others report a consequence. */
function failAll([first, ...others]: readonly RankLink[], error: unknown): void {
  first.fail(error);
  for (const link of others) link.fail(error, true);
}

/** Reports an error that nothing caught, for instance in a timer of the project, and leaves once the hub knows. */
function failUncaught(links: readonly RankLink[]): void {
  process.on('uncaughtException', (reason) => {
    console.error(reason);
    failAll(links, reason);
    void Promise.all(links.map((link) => link.dismissed)).then(() => process.exit(1));
  });
}
