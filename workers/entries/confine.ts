import { type Confinement, confinementVariable } from '../../core/protocol/machine/confinement.ts';
import { confine } from '../system/confine.ts';

/** Runs before the entry of every process with a project's code (`node --require`), while Node has no threads that read files. */

const text = process.env[confinementVariable];
if (text !== undefined) {
  for (const problem of confine(JSON.parse(text) as Confinement)) console.log(`Not limited by the system: ${problem}.`);
}
