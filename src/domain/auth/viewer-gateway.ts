import type { GatewayClient, OrderEnd } from '../../gateway/client.ts';
import type { InputOf, ReadOperation, WriteOperation } from '../../gateway/define-operation.ts';
import { isGatewayError, UnsafePathError } from '../../gateway/gateway-error.ts';
import type { Acknowledgement } from '../../gateway/judge.ts';
import type { CatalogAnswer } from '../../gateway/operations/get-all-tickers.ts';
import type { PositionsAnswer } from '../../gateway/operations/get-open-positions.ts';
import type { SessionAnswer } from '../../gateway/operations/get-session.ts';
import { OPERATIONS, type OperationName, type OrderCall } from '../../gateway/operations.ts';
import { LOGIN } from '../../lib/account.ts';
import type { ProofLedger } from './proof.ts';
import { NoGroupError } from './token-errors.ts';
import type { UnknownTokens } from './trading-limits.ts';
import type { Viewer } from './viewer.ts';

interface ViewerGatewayParts {
  readonly client: GatewayClient;
  readonly ledger: ProofLedger;
  readonly unknownTokens: UnknownTokens;
  readonly onWritten?: (viewer: Viewer) => void;
}

/** Records the 200 of a call; `group` is the group that the answer proves. */
type Prove = (group: string | null) => void;

export type ViewerGateway = ReturnType<typeof createViewerGateway>;

/** The gateway for viewers. Every answer passes through here, so the ledger records all acceptances and refusals. */
export function createViewerGateway({
  client,
  ledger,
  unknownTokens,
  onWritten,
}: ViewerGatewayParts) {
  /** Calls with a recently accepted token are not limited. `onAnswer` calls `prove` if the answer proves the token. */
  function call<T>(
    viewer: Viewer,
    operation: OperationName,
    send: (prove: Prove) => Promise<T>,
    onAnswer: (answer: T, prove: Prove) => void = () => {},
  ): Promise<T> {
    const wasAccepted = ledger.isAccepted(viewer);
    const logicalTime = ledger.beginCall();
    const prove: Prove = (group) => {
      ledger.answered(viewer, operation, logicalTime, group);
      // The ledger may have recorded a refusal that is newer than this call.
      if (!wasAccepted && ledger.isAccepted(viewer)) unknownTokens.accepted(viewer);
    };
    const sent = wasAccepted ? send(prove) : unknownTokens.guard(viewer, () => send(prove));
    return sent.then(
      (answer) => {
        onAnswer(answer, prove);
        return answer;
      },
      (error: unknown) => {
        if (isGatewayError(error, 'unauthenticated')) ledger.refused(viewer);
        throw error;
      },
    );
  }

  /** A read that needs only its viewer and its input. The operation's file states what a 200 proves. */
  function read<Input, T>(
    viewer: Viewer,
    operation: ReadOperation<Input, T> & { readonly name: OperationName },
    ...input: InputOf<Input>
  ): Promise<T> {
    const send = () => client.read(viewer, operation, ...input);
    return call(viewer, operation.name, send, (_answer, prove) => prove(null));
  }

  return {
    read,
    async getAllTickers(
      viewer: Viewer,
      group: string,
      etag: string | null,
    ): Promise<CatalogAnswer> {
      try {
        const send = () => client.read(viewer, OPERATIONS.getAllTickers, { group, etag });
        return await call(viewer, 'getAllTickers', send, ({ modified }, prove) =>
          // A 304 can come from an intermediate cache that never saw this token.
          prove(modified ? group : null),
        );
      } catch (error) {
        if (isGatewayError(error, 'forbidden')) ledger.forbidden(viewer, group);
        // The session has named this group. A new sign-in would not change it, so the token is not to blame.
        const isOfSession = group !== viewer.claimedGroup;
        if (error instanceof UnsafePathError && isOfSession) throw new NoGroupError();
        throw error;
      }
    },
    async getSession(viewer: Viewer): Promise<SessionAnswer> {
      // The snapshot proves the token before its lists are read, so a broken row does not count against the token.
      try {
        const send = (onOwned: Prove) =>
          client.read(viewer, OPERATIONS.getSession, { login: viewer[LOGIN], onOwned });
        return await call(viewer, 'getSession', send);
      } catch (error) {
        if (isGatewayError(error, 'forbidden')) ledger.forbidden(viewer, null);
        throw error;
      }
    },
    getOpenPositions: (viewer: Viewer, previous: PositionsAnswer | null) =>
      read(viewer, OPERATIONS.getOpenPositions, previous),
    /** `onLate` is called with an answer that arrives after the call's deadline. */
    async order(
      viewer: Viewer,
      { operation, order, sendBeforeMs }: OrderCall,
      onLate?: (end: OrderEnd) => void,
    ): Promise<OrderEnd> {
      const judged = (end: OrderEnd) => {
        if (end.sent && end.answered && end.status === 401) ledger.refused(viewer);
        return end;
      };
      const details = { sendBeforeMs, onLate: onLate && ((end: OrderEnd) => onLate(judged(end))) };
      const exchange = await (operation === 'openPosition'
        ? client.order(viewer, OPERATIONS.openPosition, order, details)
        : client.order(viewer, OPERATIONS.placeLimitOrder, order, details));
      return judged(exchange);
    },
    /** A small write. Its success proves nothing; its 401 ends the proof, as that of any operation does. */
    write<Input>(
      viewer: Viewer,
      operation: WriteOperation<Input, Acknowledgement> & { readonly name: OperationName },
      input: Input,
    ): Promise<Acknowledgement> {
      const send = () => client.write(viewer, operation, input);
      return call(viewer, operation.name, send).finally(() => onWritten?.(viewer));
    },
  };
}
