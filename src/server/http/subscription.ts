import type { FollowedEvents } from '../../plugins/live/delivery.ts';
import type { RequestSummary } from '../request/request-summary.ts';
import { endRequestTrace } from '../request/request-trace.ts';
import { EventStream } from './event-stream.ts';
import type { EventStreams } from './event-streams.ts';
import { EVENT_STREAM } from './negotiation.ts';
import type { Reply } from './reply.ts';

export interface SubscriptionOptions {
  readonly summary: RequestSummary;
  readonly streams: EventStreams;
  readonly pingMs: number;
  readonly subscribed: () => void;
  /** The events, as other plugins hand them on. */
  readonly outcome: AsyncIterable<never>;
}

/** Answers a subscription by an event stream, which may last for hours. */
export async function answerSubscription(
  reply: Reply,
  followed: FollowedEvents,
  { summary, streams, pingMs, subscribed, outcome }: SubscriptionOptions,
): Promise<void> {
  summary.transport = 'sse';
  subscribed();
  const takesPacked = reply.takesGzip;
  reply.set('content-type', EVENT_STREAM);
  reply.set('x-accel-buffering', 'no');
  if (takesPacked) reply.set('content-encoding', 'gzip');
  const response = reply.begin(200);
  // The span is that of the start.
  if (reply.trace !== null) endRequestTrace(reply.trace, 200);
  streams.add(response);
  const events = new EventStream({
    response,
    unread: reply.unread,
    takesPacked,
    summary,
    pingMs,
  });
  try {
    await events.carry(followed, outcome);
  } finally {
    streams.delete(response);
  }
}
