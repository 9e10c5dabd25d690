import { callApp } from '../call-app.ts';
import type { Position } from '../generated/rows.ts';
import type { LiveNames } from '../live/chosen-fields.ts';
import { type FeedCore, LiveFeed } from '../live/live-feed.ts';
import { type PositionChangesData, positionsSubscription } from '../live/positions-operation.ts';
import { positionsSource } from '../live/positions-source.ts';
import type { PositionsState } from '../live/states.ts';
import { timeFunctions } from '../platform-functions.ts';
import { SteadySubscription } from './steady-subscription.ts';
import type { SubscribeClient, SubscribeFunction } from './subscribe-function.ts';

/** The open positions with these fields. */
export type FollowedState<Names extends keyof Position = keyof Position> = PositionsState<
  LiveNames & { readonly position: Names }
>;

/** The options of `follow`. */
export interface FollowOptions<Names extends keyof Position = keyof Position> {
  /** Called at once, and after each change. */
  readonly onChange: (state: FollowedState<Names>) => void;
  /** The fields of positions; by default all. */
  readonly positionFields?: readonly Names[] | undefined;
  /** At most one change in this time, 1 to 15000 milliseconds; by default each change is reported. */
  readonly intervalMs?: number | undefined;
}

/** The longest time between two events. */
const HEARTBEAT_SECONDS = 15;

/**
 * Follows the open positions by another client's subscriptions: by a function as graphql-ws has it, by one that returns an
 * observable, or by a client of graphql-ws. Lost and dead connections are replaced, with the last cursor. The other client
 * should leave that to `follow`: graphql-ws by `retryAttempts: 0`. Returns a function that ends it.
 */
export function follow<Names extends keyof Position = keyof Position>(
  subscribe: SubscribeFunction | SubscribeClient,
  options: FollowOptions<Names>,
): () => void {
  const { onChange, intervalMs, positionFields } = options;
  const client = typeof subscribe === 'function' ? { subscribe } : subscribe;
  const environment = timeFunctions();
  const query = positionsSubscription({ positionFields });
  const core: FeedCore<PositionChangesData> = {
    environment,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    subscribe(_, variables, sink) {
      const request = (attempts: number) => {
        // A client may take a subscription with the same variables for the one that it has.
        const heartbeatSeconds = HEARTBEAT_SECONDS + (attempts % 2);
        return { query, variables: { ...variables(), heartbeatSeconds } };
      };
      const steady = new SteadySubscription({ client, request, sink, environment });
      return () => steady.end();
    },
  };
  const user = { onChanged: () => callApp(environment, () => onChange(feed.state)) };
  const feed = new LiveFeed(core, positionsSource(query), user);
  user.onChanged();
  feed.follow(intervalMs ?? null);
  return () => {
    // The app is not told of the end that it has asked for.
    user.onChanged = () => {};
    feed.pause();
  };
}
