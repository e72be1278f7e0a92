import type { Placement } from '../../../core/protocol/machine/devices.ts';
import { followsDevices } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import type { TaskServer } from '../../nodes/task-server.ts';
import type { RunRecorder } from '../recording/run-recorder.ts';
import type { WaveOutcome } from './wave.ts';

/**
 * The places of a wave's ranks on the nodes of a launch: those of nodes that are gone move to nodes that are there,
 * which may be new ones. Where the number of ranks follows that of the devices, there may be more or fewer. Waits until
 * enough nodes are there.
 */
export async function placeOnNodes(
  wave: readonly Placement[],
  tasks: TaskServer,
  recorder: RunRecorder,
  aborted: AbortSignal,
): Promise<readonly Placement[]> {
  const { config } = recorder.record;
  if (tasks.whatIsMissing !== null)
    recorder.event(null, 'nodes-awaited', `${tasks.whatIsMissing}, so the run waits for another one.`);
  await tasks.awaitNodes(config.timeouts.prepareMs, aborted);
  if (followsDevices(config)) return resize(wave, tasks.placementPerDevice(config), tasks, recorder);
  const now = tasks.placementsNow(wave, config);
  const moved = now.filter(({ rank, device }) => wave.some((of) => of.rank === rank && of.device.id !== device.id));
  if (moved.length === 0) return wave;
  const where = moved.map(({ rank, device }) => `rank ${rank} to ${device.id}`).join(', ');
  const reason = wave.every(({ device }) => tasks.isPresent(device)) ? 'A node has joined' : 'Their node is gone';
  recorder.event(null, 'ranks-moved', `${reason}, so ranks move: ${where}.`);
  const plan = recorder.record.plan.map((placement) => now.find(({ rank }) => rank === placement.rank) ?? placement);
  await keepPlan(plan, tasks, recorder);
  return now;
}

async function resize(
  before: readonly Placement[],
  now: readonly Placement[],
  tasks: TaskServer,
  recorder: RunRecorder,
): Promise<readonly Placement[]> {
  const isSame = now.length === before.length && now.every(({ device }, i) => device.id === before[i].device.id);
  if (isSame) return before;
  const { members: most } = recorder.record.config;
  const where = now.map(({ device }) => device.id).join(', ');
  const message = `Ranks follow the devices: ${now.length} of at most ${most} train, on ${where}.`;
  recorder.event(null, 'world-size', message, { data: { worldSize: now.length, before: before.length } });
  await keepPlan([...now], tasks, recorder);
  return now;
}

async function keepPlan(plan: Placement[], tasks: TaskServer, recorder: RunRecorder): Promise<void> {
  await recorder.change({ plan });
  tasks.sampleLoads(plan.map(({ device }) => device));
}

/**
 * A wave's outcome, whose error also names nodes that were lost beside that of its rank: a network that breaks may take
 * several away at once.
 */
export function nameLostNodes(
  outcome: WaveOutcome,
  wave: readonly Placement[],
  tasks: Pick<TaskServer, 'isPresent'>,
): WaveOutcome {
  if (outcome.kind !== 'failed') return outcome;
  const { error } = outcome;
  const lost = wave.filter(({ device }) => device.id !== error.device && !tasks.isPresent(device));
  const own = wave.find(({ device }) => device.id === error.device)?.device.node?.name;
  const names = new Set(lost.flatMap(({ device: { node } }) => node?.name ?? []).filter((name) => name !== own));
  if (names.size === 0) return outcome;
  return { ...outcome, error: { ...error, message: `${error.message} Also lost: ${[...names].join(', ')}.` } };
}
