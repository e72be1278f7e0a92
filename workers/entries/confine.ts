import {
  type Confinement,
  confinementVariable,
  describeEnforcement,
  enforcementVariable,
} from '../../core/protocol/machine/confinement.ts';
import { confine } from '../system/confine.ts';

/** Runs before the entry of every process with a project's code (`node --require`), before any of that code. */

const text = process.env[confinementVariable];
if (text !== undefined) {
  const enforcement = confine(JSON.parse(text) as Confinement);
  process.env[enforcementVariable] = JSON.stringify(enforcement);
  if (enforcement.problems.length > 0) console.log(describeEnforcement(enforcement));
}
