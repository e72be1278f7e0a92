import { expect, it } from 'vitest';
import { createChannelPair } from '../../../core/protocol/wire/channel.ts';
import { HubLink } from '../../../workers/session/hub-link.ts';
import { HubReport } from '../../../workers/session/hub-report.ts';

it('tells which of the first points the hub may not have written', () => {
  const [, channel] = createChannelPair();
  const ignore = (): void => undefined;
  const report = new HubReport(new HubLink(channel, { message: ignore, collective: ignore, closed: ignore }));
  const names = ['a', 'b', 'c', 'd'];
  names.forEach((name, step) => report.point(name, step, { epoch: 0, step }));
  const namesOf = (count: number): string[] => {
    const { names: ofMetrics, nameIndex } = report.unrecorded(count);
    return Array.from(nameIndex, (index) => ofMetrics[index]);
  };
  expect(report.reportedPoints).toBe(4);
  expect(namesOf(3)).toEqual(['a', 'b', 'c']);
  report.flush();
  report.written(2);
  expect(report.reportedPoints).toBe(4);
  expect(namesOf(3)).toEqual(['c']);
  expect(namesOf(1)).toEqual([]);
  report.point('e', 4, { epoch: 0, step: 4 });
  expect(report.reportedPoints).toBe(5);
  expect(namesOf(5)).toEqual(['c', 'd', 'e']);
});
