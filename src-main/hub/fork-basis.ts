import { mergeConfig } from '../../core/options/index.ts';
import { roundPath } from '../../core/node/saved-rounds.ts';
import { chooseForkPoint, type ForkChoice, type ForkPoint } from '../../core/protocol/history/history.ts';
import type { RunRow } from '../../core/protocol/pages/run-list.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import { configOfAttempt } from '../../core/protocol/run/record.ts';
import { type SettingChanges, settingNames, settingsOf } from '../../core/protocol/run/settings.ts';
import { parseConfig } from '../runs/configuration/resolve-config.ts';
import type { ForkSource } from '../runs/fork/copy-run.ts';
import {
  folderOfPoint,
  positionAfter,
  ranksOfState,
  readForkPoints,
  readStateData,
  roundOf,
} from '../runs/fork/fork-points.ts';
import { readRunRecord } from '../store/runs/run-folder.ts';
import { readSavedRound } from '../store/runs/saved-rounds.ts';

/** What a fork of a point begins with. */
export interface ForkBasis {
  source: ForkSource;
  point: ForkPoint;
  /** The configuration of the attempt that saved the point. */
  config: RunConfig;
  /** Settings that were changed while it trained until then; they replace those of `config`. */
  changed: SettingChanges;
  /** Where training goes on. */
  start: { epoch: number; step: number };
}

/**
 * The point of a run that is asked for, and what a fork of it begins with.
 * @throws Error if there is no such point, or its files are damaged
 */
export async function readForkBasis({ id, folder }: RunRow, choice: ForkChoice): Promise<ForkBasis> {
  const record = await readRunRecord(folder);
  const point = chooseForkPoint(id, await readForkPoints(folder, record), choice);
  const source = { folder, record };
  const { config, changed } = await configAt(source, point);
  return { source, point, config: withoutWarmStart(config, point), changed, start: await positionOf(source, point) };
}

/** The configuration at a point of a run, with what was changed while it trained. */
async function configAt(
  { folder, record }: ForkSource,
  point: ForkPoint,
): Promise<{ config: RunConfig; changed: SettingChanges }> {
  const attempt = record.attempts.find((one) => one.attempt === point.attempt);
  const config = attempt === undefined ? record.config : configOfAttempt(record, attempt);
  const isLast = point.attempt === record.attempts.length;
  if (point.kind === 'checkpoint') return { config, changed: (isLast ? record.changed : attempt?.changed) ?? {} };
  const { folder: from, own } = folderOfPoint(folder, point.name);
  const round = roundOf(own);
  const [first] = await ranksOfState(from, record, round);
  const data = await readStateData(from, first, round);
  if (data === null) {
    throw new Error(`${roundPath(from, first, round)}.safetensors is missing or damaged. Fork from another point.`);
  }
  const configured = settingsOf(config);
  const names = settingNames.filter((name) => data.settings[name] !== configured[name]);
  return { config, changed: Object.fromEntries(names.map((name) => [name, data.settings[name]])) };
}

/** Where training goes on: a state may be one within an epoch. */
async function positionOf({ folder, record }: ForkSource, point: ForkPoint): Promise<{ epoch: number; step: number }> {
  if (point.kind === 'checkpoint') return positionAfter(point);
  const { folder: from, own } = folderOfPoint(folder, point.name);
  const round = roundOf(own);
  const ranks = await ranksOfState(from, record, round);
  const states = await Promise.all(ranks.map((rank) => readSavedRound(from, rank, round)));
  const epochs = states.map((state) => {
    if (state instanceof Error) throw state;
    return state.epoch;
  });
  return { epoch: Math.max(...epochs), step: point.step };
}

/** A checkpoint's weights replace those of a warm start. */
export function withoutWarmStart(config: RunConfig, { kind }: ForkPoint): RunConfig {
  if (kind === 'state' || config.warmStart.checkpoint === '') return config;
  return parseConfig(mergeConfig(config, { warmStart: { checkpoint: '', noise: 0 } }));
}
