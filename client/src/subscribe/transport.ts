import type { Result } from '../core.ts';
import type { Environment } from '../environment.ts';
import type { TradingGraphError } from '../errors.ts';
import type { RequestedDocument } from '../request/document.ts';

/** The transport under a connection's subscriptions: a WebSocket, or an event stream. It is opened once and lost once. */
export interface Transport {
  /** Whether further subscriptions can begin on it. */
  readonly isReusable: boolean;
  /** Begins a subscription; the function ends it. */
  start(request: SubscribeRequest, events: SubscriptionEvents): () => void;
  /** Finds out whether the transport is still alive, as after a sleep; false where a heartbeat is overdue. */
  check(): boolean;
  /** Lets go of the transport; nothing is reported any more. */
  close(): void;
}

export interface SubscribeRequest {
  readonly document: RequestedDocument;
  readonly variables: unknown;
}

export interface SubscriptionEvents {
  next(result: Result<unknown>): void;
  /** The server ends the subscription; with errors where it never began. */
  ended(errors: readonly TradingGraphError[]): void;
}

export interface TransportEvents {
  acknowledged(): void;
  lost(disconnect: Disconnect): void;
}

export type Disconnect =
  /** The network, the server's restart, or a transport that was silent for too long; with what is known of why it did not open. */
  | { readonly kind: 'broken'; readonly retryAfter?: number; readonly error?: TradingGraphError }
  | { readonly kind: 'token-refused' }
  /** Trying again would end in the same way. */
  | { readonly kind: 'fatal'; readonly error: TradingGraphError };

export interface TransportOptions {
  readonly environment: Environment;
  readonly url: string;
  readonly token: string;
  /** The longest time between two events, as agreed with the server. */
  readonly heartbeatMs: number;
  readonly events: TransportEvents;
}

/** Opens a transport with a token. */
export type OpenTransport = (token: string, events: TransportEvents) => Transport;
