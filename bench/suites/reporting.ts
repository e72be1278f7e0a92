import { figure, type Suite } from '../figures.ts';
import { measuredMs, measureRecording, pointsPerSecond } from '../hub/recording.ts';
import { ranks } from '../records.ts';

/** The hub's processor time for the points of 16 ranks. */
export const suite: Suite = {
  name: 'reporting',
  async run(note) {
    note(`${ranks} ranks x ${pointsPerSecond} points a second, for ${measuredMs / 1000} s`);
    const { share, points } = await measureRecording(ranks);
    const name = `hub, ${ranks} ranks x ${pointsPerSecond} points/s (${points} points kept)`;
    return [figure({ suite: 'reporting', name, value: 100 * share, unit: '% of a core', better: 'lower', target: 10 })];
  },
};
