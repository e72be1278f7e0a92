import type { Hub } from '../hub.ts';
import type { LiveRuns } from '../runs/live-runs.ts';
import type { RunFeed } from '../runs/run-feed.ts';

/** What the answers to pages are made from. */
export interface HubParts {
  hub: Hub;
  live: LiveRuns;
  feed: RunFeed;
}
