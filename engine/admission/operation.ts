import type { VariableValues } from 'graphql';
import type { Client } from '../../lib/limits/client.ts';
import type { RequestTrace, TraceSpan } from '../../lib/tracing/tracing.ts';
import type { CostInputs } from '../cost/amount.ts';
import type { Meter } from '../cost/meter.ts';
import type { PreparedDocument, PreparedOperation } from '../documents/documents.ts';
import type { Attribution } from '../errors/codes.ts';
import type { FollowedEvents } from '../live/delivery.ts';
import type { Params } from '../params/params.ts';
import type { Refusal } from './refusal.ts';

/** A call of a backend that an operation made, or that it shared or was spared. */
export interface BackendCall {
  readonly operation: string;
  readonly ms: number;
  readonly source: 'call' | 'cache' | 'shared';
  /** How a call of the operation's own ended. */
  readonly outcome?: string;
}

/** The notes about an operation, for its line in the log and its metrics. */
export interface OperationRecord {
  readonly requestId: string;
  /** Null where tracing is off. */
  readonly trace: RequestTrace | null;
  type: PreparedOperation['node']['operation'] | null;
  /** From a manifest, so that its name is the operators' own. */
  isTrusted: boolean;
  operationName: string | null;
  /** The account that the token claims. */
  claimedAccount: string | null;
  called(call: BackendCall): void;
  failed(code: string, outcome: Attribution, reason: string | null): void;
}

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
  /** True where the transport itself tells the client why a subscription ends. */
  readonly reportsEnd: ((error: unknown) => boolean) | undefined;
  /** The request, over HTTP, for plugins that look at it. */
  readonly toRequest: (() => Request) | undefined;
}

/**
 * One operation on its way through the plugins. It is an object of its own in the context, because
 * yoga gives plugins a context that inherits from the transport's, which would not see what they set.
 */
export class Operation {
  readonly transport: TransportContext;
  /** Aborted once no client waits for the answer. */
  readonly signal: AbortSignal | undefined;
  /** The parameters from the transport; yoga reads them later. */
  sent: unknown;
  /** The headers of the response, whatever it is. */
  headers: Readonly<Record<string, string>> = NO_HEADERS;
  /** The rest is set on admission, in the order of the plugins. */
  client!: Client;
  /** The refusal of an operation whose address is over a limit, unless the reserve lets it pass. */
  overLimit: Refusal | null = null;
  params!: Params;
  document: PreparedDocument | null = null;
  prepared!: PreparedOperation;
  values!: VariableValues;
  /** A sign-in that never went out: it costs its client no request. */
  isGivenBack = false;
  /** The fields that the answer can contain, as estimated. */
  cost = 0;
  /** The values beside the document on which its amounts depend. */
  inputs!: CostInputs;
  meter!: Meter;
  trace: TraceSpan | null = null;
  /** The events of a subscription that has begun, which its transport delivers. */
  events: FollowedEvents | null = null;

  constructor(transport: TransportContext, signal: AbortSignal | undefined) {
    this.transport = transport;
    this.signal = signal;
    this.sent = transport.sent;
  }
}

const NO_HEADERS: Readonly<Record<string, string>> = {};
