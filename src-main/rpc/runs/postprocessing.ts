import { type Postprocessing, postprocessingPath } from '../../../core/postprocessing/schema.ts';
import type { HubParts } from '../../hub/run-feed.ts';
import { readFitted } from '../../store/runs/fitted.ts';

const sets = ['ensemble-best', 'member-best', 'final'] as const;

/**
 * What was fitted for the sets of a run, in this order of the sets.
 *
 * @throws Error that names the file if it is damaged
 */
export async function readPostprocessing({ hub }: Pick<HubParts, 'hub'>, id: string): Promise<Postprocessing[]> {
  const { folder } = await hub.find(id);
  const found = await Promise.all(sets.map((set) => readFitted(folder, postprocessingPath(set))));
  return found.filter((fitted) => fitted !== null);
}
