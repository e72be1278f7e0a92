import type { Hub } from '../hub/hub.ts';
import type { LiveRuns } from '../hub/live-runs.ts';
import type { RunFeed } from '../hub/run-feed.ts';

/** What the answers to pages are made from. */
export interface HubParts {
  hub: Hub;
  live: LiveRuns;
  feed: RunFeed;
}
