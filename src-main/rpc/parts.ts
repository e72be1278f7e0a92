import type { Hub } from '../hub/hub.ts';
import type { LiveRuns } from '../runs/control/live-runs.ts';
import type { RunFeed } from '../runs/recording/run-feed.ts';

/** What the answers to pages are made from. */
export interface HubParts {
  hub: Hub;
  live: LiveRuns;
  feed: RunFeed;
}
