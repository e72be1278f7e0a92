import { z } from 'zod';
import type { deviceSchema } from '../machine/devices.ts';
import type { InspectProgress } from '../run/inspect-task.ts';
import type { RunListChange } from './run-list.ts';
import type { RunUpdate } from './run-updates.ts';
import type { StudyChange, StudySummary } from './study-views.ts';
import { FrameDecoder } from '../wire/frame-decoder.ts';
import { encodeFrame } from '../wire/frame-encoder.ts';
import { FrameError, headBytes } from '../wire/frames.ts';
import { frameOfValue, valueOfFrame } from '../wire/value-frame.ts';

/**
 * What pages and hub say to each other, over Electron's messages or a WebSocket: pages call the methods of
 * `hub-methods.ts`, and the hub calls those of {@link PageApi}. Typed arrays travel in binary form: NaN is kept, and
 * nothing large becomes JSON.
 */

/** The calls of the hub to pages. None has an answer. */
export interface PageApi {
  /** The queue of waiting runs has changed. */
  queueChanged(): void;
  /** The list of runs has changed. */
  runsChanged(change: RunListChange): void;
  /**
   * Updates of a watched run, in order, about ten times a second. A `record` with one more attempt means that the run
   * was resumed: points beyond its resume step are gone, so the page must read `series` again.
   */
  runUpdates(id: string, updates: RunUpdate[]): void;
  /** The list of studies has changed. */
  studiesChanged(change: { changed: StudySummary[]; removed: string[] }): void;
  /** A watched study has changed. */
  studyChanged(id: string, change: StudyChange): void;
  /** The list of searches has changed. */
  discoveriesChanged(): void;
  /** A watched search has changed. */
  discoveryChanged(id: string): void;
  /** How far the inspection is that this page waits for. */
  inspecting(progress: InspectProgress): void;
}

const eventsOfPage: Record<keyof PageApi, true> = {
  queueChanged: true,
  runsChanged: true,
  runUpdates: true,
  studiesChanged: true,
  studyChanged: true,
  discoveriesChanged: true,
  discoveryChanged: true,
  inspecting: true,
};

/** The names of all calls of the hub to pages. */
export const pageEvents = Object.keys(eventsOfPage) as (keyof PageApi)[];

/** `owner`: the user who started Tutti. `watcher`: somebody with a link that only shows runs. */
export type PageRole = 'owner' | 'watcher';

export interface PageSession {
  role: PageRole;
  /** Whether this page can make links for watchers. */
  canInvite: boolean;
  /** How a user calls the command line of this Tutti, `tutti` or with `npx` before it. */
  program: string;
}

export const folderNameSchema = z.enum(['home', 'runs', 'cache', 'exports']);
export type FolderName = z.output<typeof folderNameSchema>;

export interface Health {
  versions: Record<string, string>;
  folders: { name: FolderName; holds: string; path: string }[];
  /** Whether a file manager can be shown. */
  canOpenFolders: boolean;
  freeBytes: number;
  devices: z.output<typeof deviceSchema>[];
  checks: { name: string; verdict: 'ok' | 'absent' | 'warn' | 'fail'; detail: string; remedy: string | null }[];
  frontEnd: 'desktop' | 'browser';
}

/** Encodes calls and answers between page and hub: each is the bytes of exactly one message frame. */

/** @throws TypeError for a value that would arrive changed: a Map, a Date, an array of another element type */
export function encodeRpc(value: unknown): Uint8Array<ArrayBuffer> {
  return join(encodeFrame(frameOfValue(value)));
}

/** @throws FrameError if the bytes are not one whole frame, or hold a value that {@link encodeRpc} never writes */
export function decodeRpc(bytes: Uint8Array): unknown {
  // Checked before memory is allocated for the announced size.
  if (bytes.length < headBytes || bytes.length !== announcedBytes(bytes)) {
    throw new FrameError(`A message of ${bytes.length} bytes is not one whole frame.`);
  }
  const [frame] = new FrameDecoder().push(bytes);
  return valueOfFrame(frame);
}

function announcedBytes(bytes: Uint8Array): number {
  const head = new DataView(bytes.buffer, bytes.byteOffset, headBytes);
  return headBytes + head.getUint32(0, true) + head.getUint32(4, true);
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((bytes, part) => bytes + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
