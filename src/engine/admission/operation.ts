import type { ExecutionResult, ValidatedExecutionArgs } from 'graphql';
import type { Client, RequestCaller } from '../../lib/limits/request-caller.ts';
import type { Meter } from '../core/meter.ts';
import type { RequestSummary } from '../core/request-summary.ts';
import type { ResultIterator } from '../core/result-iterator.ts';
import type { PartsFormat } from '../documents/compiler/compiling-executor.ts';
import type { PreparedDocument, PreparedOperation } from '../documents/documents.ts';
import type { RequestFacts } from '../documents/operation-facts.ts';
import type { RequestedDocument } from '../documents/trusted-documents.ts';

/** The facts about an operation that its transport provides before its document is read. */
export interface TransportContext {
  readonly summary: RequestSummary;
  /** Whether the client accepts the events of a subscription. */
  readonly takesEvents: boolean;
  /** The client's format for an answer in parts; null if it reads one piece. */
  readonly partsFormat: PartsFormat | null;
  /** The headers of the request, or those of a socket's `connectionParams`, by their names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The headers of the response, also of a refusal; null over a WebSocket. */
  readonly responseHeaders: Record<string, string> | null;
  /** Returns true if the transport itself reports to the client why a subscription ends. */
  readonly reportsEnd?: (error: unknown) => boolean;
}

/** An admitted operation. Its execution may add to it, but does not change earlier decisions. */
export interface Operation {
  readonly transport: TransportContext;
  /** Its signal is aborted when no client waits for the answer. */
  readonly caller: RequestCaller;
  readonly params: RequestedDocument;
  readonly document: PreparedDocument;
  readonly prepared: PreparedOperation;
  /** The executor's arguments, without a context. */
  readonly args: ValidatedExecutionArgs;
  readonly facts: RequestFacts;
  readonly meter: Meter;
  /** The format of the parts in which fragments with `@defer` are sent; null if the answer has one piece. */
  readonly partsFormat: PartsFormat | null;
  /** The client that has been charged so far. */
  client: Client;
  /** The token that a sign-in has issued; otherwise null. */
  issuedToken: string | null;
  /** A copy of the data of a mutation that has been executed; otherwise null. */
  mutation: ExecutionResult['data'];
  /** The results of events, or the parts of an answer; null if the operation has one result. */
  results: ResultIterator | null;
}

/** The context that the resolvers of one event read with. */
export interface EventContext {
  /** The `extensions` of a result: what was read, the estimated fields, and the counted ones. */
  receipt(cost: number, fields: number): Readonly<Record<string, unknown>>;
}

/** The context that the resolvers of one operation read with. */
export interface OperationContext extends EventContext {
  readonly operation: Operation;
  /** Returns a function that makes the context of each event. A subscription outlives the context of its operation. */
  eventContexts(): () => EventContext;
}
