import type { VariableValues } from 'graphql';
import type { Client } from '../../lib/limits/client.ts';
import type { TraceSpan } from '../../lib/tracing/tracing.ts';
import type { CostInputs } from '../cost/amount.ts';
import type { Meter } from '../cost/meter.ts';
import type { PreparedDocument, PreparedOperation } from '../documents/documents.ts';
import type { FollowedEvents } from '../live/delivery.ts';
import type { RequestedDocument } from '../params/params.ts';
import type { RequestSummary } from '../request/request-summary.ts';

/** The notes about an operation, for its line in the log and its metrics. */
export type OperationRecord = Pick<
  RequestSummary,
  | 'requestId'
  | 'trace'
  | 'type'
  | 'isTrusted'
  | 'operationName'
  | 'deprecated'
  | 'claimedAccount'
  | 'called'
  | 'failed'
>;

/** The facts about an operation that a transport gives before its document is read. */
export interface TransportContext {
  /** JSON of any shape. */
  readonly sent: unknown;
  readonly record: OperationRecord;
  /** GET must be safe to repeat, prefetch and link to. */
  readonly mayMutate: boolean;
  /** Whether the client accepts the events of a subscription. */
  readonly takesEvents: boolean;
  /** Whether a response may be sent as bytes that are cached. */
  readonly takesBytes: boolean;
  /** Whether its client has sent more messages than it may: only the reserve lets it pass. */
  readonly isOver: boolean;
  readonly ifNoneMatch: string | undefined;
  /** The headers of the request, by their names in lower case; of a socket those that its `connectionParams` give. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** True where the transport itself tells the client why a subscription ends. */
  readonly reportsEnd: ((error: unknown) => boolean) | undefined;
  /** The request, over HTTP, for plugins that look at it. */
  readonly toRequest: (() => Request) | undefined;
}

/** An operation that was admitted. Its run may note more of it, and changes nothing of what was decided before. */
export interface Operation {
  readonly transport: TransportContext;
  /** Aborted once no client waits for the answer. */
  readonly signal: AbortSignal | undefined;
  /** The headers of the response, whatever it is. */
  readonly headers: Readonly<Record<string, string>>;
  /** True where its address is over a limit, and the reserve has let it pass. */
  readonly isReserved: boolean;
  readonly params: RequestedDocument;
  readonly document: PreparedDocument;
  readonly prepared: PreparedOperation;
  readonly values: VariableValues;
  /** The values beside the document on which its amounts depend. */
  readonly inputs: CostInputs;
  /** The fields that the answer can contain, as estimated. */
  readonly cost: number;
  readonly meter: Meter;
  /** Returns the client that is charged from now on: the account, once it is proved. */
  readonly clientNow: () => Client;
  /** The client that has been charged so far. */
  client: Client;
  /** A sign-in that never went out: it costs its client no request. */
  isGivenBack: boolean;
  /** The token that it has issued; null where it signs nobody in. */
  issuedToken: string | null;
  trace: TraceSpan | null;
  /** The events of a subscription that has begun, which its transport delivers. */
  events: FollowedEvents | null;
}
