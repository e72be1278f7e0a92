import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isHubAlive, lookAtHub, takeHubLock } from '../../../../src-main/store/runs/hub-lock.ts';
import { takeOverRun } from '../../../../src-main/store/index/recovery.ts';
import { ScratchFolder } from '../../../../src-main/runs/workers/scratch.ts';

/**
 * What a process of a test does with a run's folder; prints one line of JSON, and holds what it took until it is
 * killed.
 */
const actions: Record<string, (folder: string) => Promise<unknown>> = {
  /** Takes the lock of the run's hub. */
  hold: async (folder) => keep((await takeHubLock(folder)) !== null),
  /** Takes the lock of the run's hub, keeps no reference to it, and collects garbage. */
  forget: async (folder) => {
    const isTaken = (await takeHubLock(folder)) !== null;
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    for (let round = 0; round < 3; round += 1) {
      await new Promise(setImmediate);
      collect();
    }
    return keep(isTaken);
  },
  /** Looks once. */
  look: (folder) => Promise.resolve(lookAtHub(folder)),
  /** Looks again and again, as pages and terminals do, and counts what it saw. */
  lookOften: (folder) => Promise.resolve(Array.from({ length: 75 }, () => isHubAlive(folder)).filter(Boolean).length),
  /** Looks without end. */
  stare: async (folder) => {
    process.stdout.write('"staring"\n');
    for (;;) {
      for (let look = 0; look < 20; look += 1) isHubAlive(folder);
      await new Promise(setImmediate);
    }
  },
  /** Takes the run over, as a resume does. */
  takeOver: async (folder) => {
    const hub = { host: 'test', pid: process.pid, socket: '/nowhere/hub.sock' };
    const taken = await takeOverRun(folder, (record) => ({ ...record, status: 'running', hub })).catch(() => null);
    return keep(taken !== null);
  },
  /** Makes a scratch folder. */
  scratch: async () => keep((await ScratchFolder.create()).path),
};

function keep<T>(result: T): T {
  if (result !== false) setInterval(() => undefined, 60_000);
  return result;
}

const [name, folder] = process.argv.slice(2);
process.stdout.write(`${JSON.stringify(await actions[name](folder))}\n`);
