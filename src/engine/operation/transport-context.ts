import { OperationTypeNode } from 'graphql';
import type { RequestSummary } from './request-summary.ts';

/** How the parts of an answer are written: by the proposal of 2022 (`deferSpec=20220824`), or the present one (`incrementalSpec=v0.2`). */
export type PartsFormat = 'deferSpec' | 'incrementalSpec';

/** The facts about an operation that a transport gives before its document is read. */
export interface TransportContext {
  /** JSON of any shape. */
  readonly sent: unknown;
  readonly record: RequestSummary;
  /** GET must be safe to repeat, prefetch and link to. */
  readonly mayMutate: boolean;
  /** Whether the client accepts the events of a subscription. */
  readonly takesEvents: boolean;
  /** How the client reads an answer in parts; null where it reads one piece. */
  readonly partsFormat: PartsFormat | null;
  /** Whether a response may be sent as bytes that are cached. */
  readonly takesBytes: boolean;
  readonly ifNoneMatch: string | undefined;
  /** The headers of the request, by their names in lower case; of a socket those that its `connectionParams` give. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** True where the transport itself reports to the client why a subscription ends. */
  readonly reportsEnd: ((error: unknown) => boolean) | undefined;
}

/** Whether an operation is a mutation, or may be one as far as its document has been read. */
export function mayBeMutation({
  record: { type },
  sent,
}: Pick<TransportContext, 'record' | 'sent'>): boolean {
  if (type !== null) return type === OperationTypeNode.MUTATION;
  const query = typeof sent === 'object' && sent !== null && 'query' in sent ? sent.query : null;
  // A document that is named by its hash comes without a text, over a WebSocket with an empty one.
  return typeof query !== 'string' || query === '' || query.includes('mutation');
}
