import { OperationTypeNode } from 'graphql';
import type { RequestSummary } from './request-summary.ts';

/** The format of an answer's parts: the proposal of 2022 (`deferSpec=20220824`), or the current one (`incrementalSpec=v0.2`). */
export type PartsFormat = 'deferSpec' | 'incrementalSpec';

/** The facts about an operation that its transport provides before its document is read. */
export interface TransportContext {
  /** JSON of any shape. */
  readonly sent: unknown;
  readonly record: RequestSummary;
  /** False for GET, which must be safe to repeat, prefetch and link to. */
  readonly mayMutate: boolean;
  /** Whether the client accepts the events of a subscription. */
  readonly takesEvents: boolean;
  /** The client's format for an answer in parts; null if it reads one piece. */
  readonly partsFormat: PartsFormat | null;
  /** The headers of the request, or those of a socket's `connectionParams`, by their names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Returns true if the transport itself reports to the client why a subscription ends. */
  readonly reportsEnd: ((error: unknown) => boolean) | undefined;
}

/** Whether an operation is a mutation, or may be one because its document has not been read. */
export function mayBeMutation({
  record: { type },
  sent,
}: Pick<TransportContext, 'record' | 'sent'>): boolean {
  if (type !== null) return type === OperationTypeNode.MUTATION;
  const query = typeof sent === 'object' && sent !== null && 'query' in sent ? sent.query : null;
  // A document sent by its hash has no text, or an empty one over a WebSocket.
  return typeof query !== 'string' || query === '' || query.includes('mutation');
}
