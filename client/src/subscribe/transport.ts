import type { Result } from '../core.ts';
import type { Environment } from '../environment.ts';
import type { TradingGraphError } from '../errors.ts';
import type { RequestedDocument } from '../request/document.ts';

export interface SubscribeRequest {
  readonly document: RequestedDocument;
  readonly variables: unknown;
}

export interface SubscriptionEvents {
  next(result: Result<unknown>): void;
  /** The server ends the subscription; with errors if the subscription never began. */
  ended(errors: readonly TradingGraphError[]): void;
}

export interface TransportEvents {
  /** The socket is open, and the server has not answered yet. */
  opened?(): void;
  acknowledged(): void;
  lost(disconnect: Disconnect): void;
}

export type Disconnect =
  /** The network failed, the server restarted, or the transport was silent too long. `error`: why it did not open. */
  | {
      readonly kind: 'broken';
      readonly retryAfter?: number | undefined;
      readonly error?: TradingGraphError | undefined;
    }
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
