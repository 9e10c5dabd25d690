import type { ValidatedExecutionArgs } from 'graphql';
import type { Client } from '../../lib/limits/client.ts';
import type { RequestCaller } from '../../lib/limits/request-caller.ts';
import type { PreparedDocument, PreparedOperation } from '../documents/documents.ts';
import type { RequestFacts } from '../documents/operation-facts.ts';
import type { RequestedDocument } from '../documents/trusted-documents.ts';
import type { LiveResults } from '../operation/live-results.ts';
import type { Meter } from '../operation/meter.ts';
import type { TransportContext } from '../operation/transport-context.ts';

/** An admitted operation. Its execution may add to it, but does not change earlier decisions. */
export interface Operation {
  readonly kind: 'operation';
  readonly transport: TransportContext;
  /** Its signal is aborted when no client waits for the answer. */
  readonly caller: RequestCaller;
  /** The headers of every response to it. */
  readonly headers: Readonly<Record<string, string>>;
  readonly params: RequestedDocument;
  readonly document: PreparedDocument;
  readonly prepared: PreparedOperation;
  /** The executor's arguments, without a context. */
  readonly args: ValidatedExecutionArgs;
  readonly facts: RequestFacts;
  /** The estimated number of fields of the answer. */
  readonly cost: number;
  readonly meter: Meter;
  /** Whether fragments with `@defer` are sent in later parts. */
  readonly isInParts: boolean;
  /** The client that has been charged so far. */
  client: Client;
  /** The token that a sign-in has issued; otherwise null. */
  issuedToken: string | null;
  /** The results of a subscription that has begun; otherwise null. */
  live: LiveResults | null;
}
