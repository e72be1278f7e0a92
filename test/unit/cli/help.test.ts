import { noPermissions } from '../../../core/protocol/run/permissions.ts';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeOptions } from '../../../core/options/index.ts';
import { runFlagsOf } from '../../../src-main/runs/configuration/run-flags.ts';
import { renderTrainHelp } from '../../../src-main/cli/help.ts';

const description = {
  name: 'Blobs',
  description: 'Three blobs in the plane.',
  task: 'classification',
  hasOwnLoss: false,
  permissions: noPermissions,
  hyperparameters: describeOptions(
    z.object({ width: z.int().default(8).meta({ help: 'Units of the hidden layer.', unit: 'units' }) }),
  ),
  defaults: { batchSize: 20, optimizer: { kind: 'adam' as const, learningRate: 0.01 } },
};
const flags = runFlagsOf(description);

function help(width: number, topic: string | true = 'all'): string[] {
  return renderTrainHelp({ project: { folder: 'blobs', description }, flags, topic, width });
}

/** A line without its alignment. */
function lineWith(text: string): string | undefined {
  return help(1000)
    .find((line) => line.includes(text))
    ?.replace(/ +/g, ' ')
    .trim();
}

describe('renderTrainHelp', () => {
  it('starts with the description of the project', () => {
    expect(help(100).slice(0, 4)).toEqual([
      'Blobs (classification)',
      'Three blobs in the plane.',
      '',
      'Usage: tutti train blobs [options]',
    ]);
  });

  it("shows help, unit and default, and the project's default if it differs", () => {
    expect(lineWith('--width')).toBe('--width <units> Units of the hidden layer. (default: 8)');
    expect(lineWith('--batch-size')).toBe(
      "-b, --batch-size <samples> Samples per step and rank (B). (the project's default: 20)",
    );
    expect(lineWith('--sampler')).toMatch(/^--sampler <choice> Order of samples: /);
    expect(lineWith('--drop-last')).toBe(
      "--drop-last [boolean] Skip an epoch's last batch if it is smaller. (default: false)",
    );
  });

  it('lists the kinds of a union, then the options of each', () => {
    const lines = help(1000).map((line) => line.replace(/ +/g, ' ').trim());
    const start = lines.indexOf('optimizer: The optimizer.');
    expect(lines.slice(start, start + 4)).toEqual([
      'optimizer: The optimizer.',
      '--optimizer <choice> (default: adam)',
      'sgd: Stochastic gradient descent.',
      'adam: Adam (Kingma and Ba, 2015).',
    ]);
    const text = lines.join(' ');
    expect(text).toContain("(default: 0.001; the project's with adam: 0.01)");
    expect(text).toContain('--optimizer.momentum <number> [sgd] Momentum; 0 is plain gradient descent. (default: 0)');
  });

  it.each([60, 80, 100])('keeps within %d columns', (width) => {
    expect(help(width).filter((line) => line.length > width)).toEqual([]);
  });

  it('describes runs in general without a project', () => {
    const lines = renderTrainHelp({ project: null, flags: runFlagsOf(null), topic: true, width: 100 });
    expect(lines[0]).toBe('Usage: tutti train <project> [options]');
    expect(lines.join('\n')).toContain('--batch-size <samples>');
    expect(lines).not.toContain('Hyperparameters of the project');
  });

  it("shows the project's hyperparameters and 25 options, a line or two each, and names the groups of the others", () => {
    const lines = help(100, true);
    const options = lines.filter((line) => /^ {2}-/.test(line));
    expect(options).toHaveLength(26);
    expect(options.join('\n')).toContain('--width <units>');
    const text = lines.join(' ').replaceAll(/ +/g, ' ');
    expect(text).toContain('-l, --optimizer.learning-rate <number>');
    expect(text).toContain("(default: 0.001; the project's with adam: 0.01)");
    expect(text).toMatch(/--optimizer <choice> The optimizer\. One of sgd, adam, [^.]*\. \(default: adam\)/);
    expect(text).not.toContain('--timeouts');
    expect(text).toMatch(/--help <group> those of a group: strategy, optimizer, schedule, .*timeouts/);
    expect(lines.length).toBeLessThan(80);
  });

  it('shows the options of a group, and those that mention a word in any case', () => {
    const optimizer = help(1000, 'optimizer').filter((line) => /^ {2}-/.test(line));
    expect(optimizer.length).toBeGreaterThan(8);
    expect(optimizer.every((line) => line.includes('--optimizer'))).toBe(true);
    const word = help(1000, 'Patience').filter((line) => /^ {2}-/.test(line));
    expect(word.join('\n')).toContain('--early-stopping.patience');
    expect(word.join('\n')).toContain('--schedule.patience');
    expect(word.join('\n')).not.toContain('--batch-size');
    // A kind is found with the option that it is a value of.
    expect(help(1000, 'adamw').some((line) => /^ {2}--optimizer </.test(line))).toBe(true);
    expect(() => help(100, 'zzz')).toThrow(
      'No option mentions "zzz". --help all shows all options; the groups are strategy,',
    );
  });
});
