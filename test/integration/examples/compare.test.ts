import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { samples, writeMadeCifar10 } from '../../samples/samples.ts';
import { metricValues } from '../harness.ts';
import { expectFigure } from './expect-figure.ts';

const examples = resolve(import.meta.dirname, '../../../examples');

/** Small settings of the examples' comparisons, each in a process as a user starts it. */
describe('compare.ts', () => {
  let home: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'tutti-compare-'));
    await cp(join(samples, 'mnist'), join(home, 'data', 'mnist'), { recursive: true });
    await writeMadeCifar10(join(home, 'data'), { train: 200, test: 50 });
  });
  afterAll(() => rm(home, { recursive: true }));

  async function compare(example: string, ...options: string[]): Promise<{ folder: string; stdout: string }> {
    const folder = join(home, example);
    const command = [join(examples, example, 'compare.ts'), folder, ...options];
    const env = { ...process.env, TUTTI_HOME: join(home, 'tutti'), TUTTI_DATA: join(home, 'data') };
    const { stdout } = await promisify(execFile)(process.execPath, command, { env });
    return { folder, stdout };
  }

  /** Rows of a Markdown table, without its header. */
  const rowsOf = (stdout: string): string[][] =>
    stdout
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .slice(2)
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );

  /** A metric of an unfinished training may rise again, so its best is compared with its first. */
  function expectImproved(folder: string, metric: string): void {
    const values = metricValues(folder, metric).map(Number);
    expect(values.length, metric).toBeGreaterThan(1);
    expect(Math.min(...values), metric).toBeLessThan(values[0]);
  }

  it('02: members learn coupled and uncoupled, and both are drawn', async () => {
    const small = ['--set', 'labels=60', '--set', 'heldOut=40', '--evaluate-every-epochs', '2'];
    const options = ['--members', '2', '--epochs', '6', '--repeat', '2'];
    const { folder, stdout } = await compare('02_coupled_ssl', ...options, '--', ...small);
    for (const name of ['coupled', 'uncoupled']) {
      expectImproved(join(folder, name, 'seed-1'), 'val/ens_nll');
      expect(stdout).toMatch(
        new RegExp(
          `^Test, ${name}: accuracy [01]\\.\\d{3} ± 0\\.\\d{3} \\(members [01]\\.\\d{3} ± ` +
            `0\\.\\d{3}\\), NLL \\d+\\.\\d{3} ± `,
          'm',
        ),
      );
    }
    const weight = (name: string) =>
      JSON.parse(readFileSync(join(folder, name, 'seed-0', 'run.json'), 'utf8')).config.strategy.couplingWeight;
    expect([weight('coupled'), weight('uncoupled')]).toEqual([1, 0]);
    expect(stdout).toMatch(/^Coupled − uncoupled, paired by seed \(2\): accuracy -?0\.\d{3} ± 0\.\d{3}/m);
    expectFigure(folder, 'coupled-ssl', 2);
  });

  it('03: searches the weight decay for ensemble and members, goes on, and draws it', async () => {
    await cp(join(samples, 'uci'), join(home, 'data', 'uci'), { recursive: true });
    const small = ['--splits', '2', '--epochs', '3', '--members', '2'];
    const given = ['--', '--set', 'membersPerDevice=2', '--set', 'units=4', '--search-seed', '3'];
    const { folder, stdout } = await compare('03_hpo_ensemble', '--trials', '3', ...small, ...given);
    expectFigure(folder, 'weight-decay-wine', 2);
    const [[, forEnsemble, , best], [, forMembers, , other]] = rowsOf(stdout);
    expect([forEnsemble, forMembers]).toEqual(['the ensemble', 'its members']);
    // No trial is better for the ensemble than the one chosen for it.
    expect(Number.parseFloat(best)).toBeLessThanOrEqual(Number.parseFloat(other));
    const again = await compare('03_hpo_ensemble', '--trials', '3', ...small, ...given);
    expect(again.stdout).toBe(stdout);
    expect(readdirSync(join(home, 'tutti', 'studies'))).toHaveLength(1);
  });

  it('05: one graph and processes train alike, and all three ways are drawn', async () => {
    const small = ['--set', 'heldOut=200', '--batch-size', '100'];
    const { folder, stdout } = await compare('05_joint_training', '--members', '2', '--epochs', '2', '--', ...small);
    const [, apart, steps] = /distributed: (\S+) up to step (\d+), \S+ after\.$/m.exec(stdout) ?? [];
    // Half of 2 epochs with 8 steps each. Sums in another order differ in the last bits of a float32.
    expect(steps).toBe('8');
    expect(Number(apart)).toBeLessThan(1e-5);
    for (const name of ['distributed', 'one-graph', 'independent']) {
      expectImproved(join(folder, name), 'train/member_0_loss');
    }
    expect(stdout.match(/^Test, .*NLL \d+\.\d{4}, accuracy 0\.\d{4};/gm)).toHaveLength(3);
    expectFigure(folder, 'joint-training', 3);
  });

  it('06: trains the six rows of the ablation', async () => {
    const { folder, stdout } = await compare('06_hdet', '--', '--max-epochs', '8');
    const rows = rowsOf(stdout);
    expect(rows.map(([name]) => name)).toEqual([
      'low rate, data-parallel',
      'high rate without spread',
      'high rate, warm start only',
      'HDET without auto-lr',
      'HDET without warm start',
      'HDET',
    ]);
    // A run may diverge, but the one with the low rate does not.
    expect(rows[0][1]).toMatch(/^[01]\.\d{3}$/);
    expect(rows[0][2]).toMatch(/^[6-9]\d\.\d %$/);
    expectImproved(join(folder, 'low'), 'val/ens_nll');
    expectImproved(join(folder, 'full'), 'val/ens_nll');
  });

  it('07: four ways train the same ensemble, and draw its uncertainty', async () => {
    const small = ['--max-epochs', '1', '--set', 'heldOut=200', '--log-every-steps', '4'];
    const { folder, stdout } = await compare(
      '07_parallel_ensemble',
      '--members',
      '2',
      '--repeats',
      '1',
      '--',
      ...small,
    );
    const rows = rowsOf(stdout);
    expect(rows.map(([name]) => name)).toEqual(['sequential', 'parallel', 'broadcasting', 'shared']);
    for (const [, seconds, memory, ...scores] of rows) {
      expect(seconds).toMatch(/^\d+\.\d s$/);
      expect(memory).toMatch(/^[1-9]\d+ MB$/);
      expect(scores).toEqual(rows[0].slice(3));
    }
    expectImproved(join(folder, 'parallel-1'), 'train/member_0_loss');
    expectFigure(join(folder, 'parallel-1', 'plots'), 'predictive-entropy', 2);
  });
});
