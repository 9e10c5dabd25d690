import type { TraceHeaders } from '../../lib/tracing/trace-context.ts';
import type { Trace } from '../../lib/tracing/tracing.ts';
import type { ClientNaming, RequestSummary } from '../request/request-summary.ts';
import type { PingTarget } from './keep-alive.ts';
import type { PacedSocket } from './paced-socket.ts';
import type { SocketPass } from './socket-limits.ts';

/** The state of one socket; graphql-ws carries it as `extra`. */
export interface Connection extends PingTarget, Record<PropertyKey, unknown> {
  readonly paced: PacedSocket;
  readonly pass: SocketPass;
  readonly requestId: string | string[] | undefined;
  /** The upgrade's, to which operations are linked; or, where tracing is off, what is sent on of them. */
  readonly traceHeaders: TraceHeaders;
  readonly forwarded: Trace | undefined;
  /** The ids of operations other than subscriptions whose answer is still to be sent. */
  readonly inFlight: Set<string>;
  /** Of all operations that have not ended, by their ids. */
  readonly summaries: Map<string, RequestSummary>;
  client: ClientNaming | null;
  /** The size of the message that is handled now. */
  bytesIn: number;
  /** The request that the message begins. */
  begun: RequestSummary | null;
}
