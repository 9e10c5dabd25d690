import { refusalOf } from './answer-body.ts';
import type { CallOutcome } from './caller.ts';
import { type ConnectionFault, connectionFault } from './connection-fault.ts';
import type { Exchange, WireCall } from './exchange.ts';
import type { Backend } from './operation.ts';
import { refusalWords } from './wire/bodies.ts';

/** Why a backend fails, in the words of its newest failure. */
interface LastFailure {
  readonly cause: ConnectionFault | CallOutcome;
  /** The address that was tried, where no connection was made. A field `address` would be struck out of the log. */
  readonly tried?: string;
  /** The gateway's own words for a 5xx; clients are shown those of a 503 alone. */
  readonly gatewayError?: Readonly<Record<'error' | 'message', string | null>>;
}

const FAILURES: ReadonlySet<CallOutcome> = new Set([
  'connect',
  'reset',
  'timeout',
  '5xx',
  'contract',
]);

/** Remembers why each operation fails, until it is well, so that a breaker that opens can say so. */
export function createLastFailures(url: string) {
  const { host } = new URL(url);
  /** The newest comes last. */
  const byOperation = new Map<string, LastFailure & { readonly backend: Backend }>();
  const newestOf = (backend: Backend) =>
    [...byOperation.values()].findLast((failure) => failure.backend === backend);
  return {
    saw({ operation, row }: WireCall, outcome: CallOutcome, exchange: Exchange): void {
      const isFailure = FAILURES.has(outcome);
      if (isFailure || outcome === 'ok') byOperation.delete(operation);
      if (!isFailure) return;
      const words = exchange.sent && exchange.answered ? refusalWords(refusalOf(exchange)) : null;
      byOperation.set(operation, {
        backend: row.backend,
        cause: connectionFault(outcome, exchange) ?? outcome,
        ...(outcome === 'connect' && { tried: addressIn(exchange) ?? host }),
        ...(words !== null && { gatewayError: words }),
      });
    },
    /** Orders are held back for their own losses, or for those of reads. */
    of(backend: Backend): LastFailure | undefined {
      const newest = newestOf(backend) ?? (backend === 'orders' ? newestOf('reads') : undefined);
      if (newest === undefined) return undefined;
      const { backend: _, ...failure } = newest;
      return failure;
    },
  };
}

/** The address that a name stood for, which the error of the system call has. */
function addressIn(exchange: Exchange): string | null {
  const { cause } = exchange as { readonly cause?: unknown };
  if (!(cause instanceof Error) || !('address' in cause)) return null;
  return 'port' in cause ? `${cause.address}:${cause.port}` : `${cause.address}`;
}
