import type { ValidatedExecutionArgs } from 'graphql';
import type { Client } from '../../lib/limits/client.ts';
import type { TraceSpan } from '../../lib/tracing/tracing.ts';
import type { CostInputs } from '../documents/amount.ts';
import type { PreparedDocument, PreparedOperation } from '../documents/documents.ts';
import type { RequestedDocument } from '../documents/persisted-documents.ts';
import type { Meter } from '../operation/meter.ts';
import type { OperationEvents } from '../operation/result-sink.ts';
import type { TransportContext } from '../operation/transport-context.ts';

/** An operation that was admitted. Its run may note more of it, and changes nothing of what was decided before. */
export interface Operation {
  readonly kind: 'operation';
  readonly transport: TransportContext;
  /** Aborted once no client waits for the answer. */
  readonly signal: AbortSignal | undefined;
  /** The headers of every response to it. */
  readonly headers: Readonly<Record<string, string>>;
  readonly params: RequestedDocument;
  readonly document: PreparedDocument;
  readonly prepared: PreparedOperation;
  /** The executor's arguments, without a context. */
  readonly args: ValidatedExecutionArgs;
  /** The values of this request on which its cost and its plans depend. */
  readonly inputs: CostInputs;
  /** The fields that the answer can contain, as estimated. */
  readonly cost: number;
  readonly meter: Meter;
  /** Whether fragments with `@defer` come in later parts. */
  readonly isInParts: boolean;
  /** Returns the client that is charged from now on: the account, once it is proved. */
  readonly clientNow: () => Client;
  /** The client that has been charged so far. */
  client: Client;
  /** The token that it has issued; null unless it is a sign-in. */
  issuedToken: string | null;
  trace: TraceSpan | null;
  /** The events of a subscription that has begun, which its transport delivers. */
  events: OperationEvents | null;
}
