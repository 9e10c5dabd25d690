import type {
  Acknowledgement,
  CatalogAnswer,
  PositionsAnswer,
  Read,
  SessionAnswer,
} from '../../gateway/answers.ts';
import type { Caller } from '../../gateway/caller.ts';
import type { GatewayClient, Writes } from '../../gateway/client.ts';
import { isGatewayError, UnsafePathError } from '../../gateway/errors.ts';
import type { Exchange } from '../../gateway/exchange.ts';
import type { OrderCall } from '../../gateway/model.ts';
import type { OperationName } from '../../gateway/operations.ts';
import type { ProofLedger } from './proof.ts';
import type { ProofTrials } from './proof-trials.ts';
import type { TokenRefusals } from './token-refusals.ts';
import type { Viewer } from './viewer.ts';

export interface ViewerGatewayParts {
  readonly client: GatewayClient;
  readonly ledger: ProofLedger;
  readonly trials: ProofTrials;
  /** Is told which operations accept tokens and which refuse them. */
  readonly refusals: Pick<TokenRefusals, 'accepted' | 'refused'>;
  /** Called with every answer of op 12, a poll's too. */
  readonly onPositions: (viewer: Viewer, answer: PositionsAnswer) => void;
  /** Called with every answer of op 10. */
  readonly onSession?: (viewer: Viewer, answer: SessionAnswer) => void;
}

/** Records the 200 of a call; `group` is the one that it proves. */
type Prove = (group: string | null) => void;
type Call<T> = (client: GatewayClient, caller: Caller, prove: Prove) => Promise<T>;

/**
 * The gateway client for one viewer's calls. Every answer to a viewer's token passes through here, so that
 * the proof ledger records each acceptance and each refusal.
 */
export class ViewerGateway {
  readonly #parts: ViewerGatewayParts;

  constructor(parts: ViewerGatewayParts) {
    this.#parts = parts;
  }

  /** A read that needs nothing but its viewer; what its 200 proves is in its row. */
  read<T>(viewer: Viewer, read: Read<T>): Promise<T> {
    const send: Call<T> = (client, caller) => client.read(caller, read, { login: viewer.login });
    return this.#call(viewer, read.operation, send, (_answer, prove) => prove(null));
  }

  async getAllTickers(viewer: Viewer, group: string, etag: string | null): Promise<CatalogAnswer> {
    const send: Call<CatalogAnswer> = (client, caller) => client.getAllTickers(caller, group, etag);
    try {
      return await this.#call(viewer, 'getAllTickers', send, ({ modified }, prove) =>
        // A 304 may come from an intermediate cache that never saw this token.
        prove(modified ? group : null),
      );
    } catch (error) {
      if (isGatewayError(error, 'forbidden')) {
        this.#parts.ledger.catalogForbidden(viewer, group);
      }
      // The session's group precedes the token's.
      if (error instanceof UnsafePathError && group !== viewer.claimedGroup) {
        throw new UnsafePathError(error.parameter, 'session');
      }
      throw error;
    }
  }

  async getSession(viewer: Viewer): Promise<SessionAnswer> {
    // A row that breaks the interface says nothing against the token.
    const send: Call<SessionAnswer> = (client, caller, prove) =>
      client.getSession(caller, viewer.login, prove);
    const answer = await this.#call(viewer, 'getSession', send).catch((error) => {
      if (isGatewayError(error, 'forbidden')) this.#parts.ledger.sessionForbidden(viewer);
      throw error;
    });
    this.#parts.onSession?.(viewer, answer);
    return answer;
  }

  getOpenPositions(viewer: Viewer, previous: PositionsAnswer | null): Promise<PositionsAnswer> {
    const send: Call<PositionsAnswer> = (client, caller) =>
      client.getOpenPositions(caller, previous);
    return this.#call(viewer, 'getOpenPositions', send, (answer, prove) => {
      prove(null);
      this.#parts.onPositions(viewer, answer);
    });
  }

  /** `onLate` is called with an answer that comes after the call has ended by its deadline. */
  async order(
    viewer: Viewer,
    call: OrderCall,
    onLate?: (exchange: Exchange) => void,
  ): Promise<Exchange> {
    const { client, ledger, refusals } = this.#parts;
    const { operation, sendBeforeMs } = call;
    const wasAccepted = ledger.isAccepted(viewer);
    const exchange = await (call.operation === 'openPosition'
      ? client.openPosition(viewer, call.order, sendBeforeMs, onLate)
      : client.placeLimitOrder(viewer, call.order, sendBeforeMs, onLate));
    if (!exchange.sent || !exchange.answered) return exchange;
    if (exchange.status === 401) {
      ledger.refused(viewer);
      this.#refused(viewer, operation, wasAccepted);
    } else if (exchange.status < 500) refusals.accepted(operation, viewer.login);
    return exchange;
  }

  /** A small write: its success proves nothing, its 401 ends proof like any other. */
  write<Name extends keyof Writes>(
    viewer: Viewer,
    operation: Name,
    input: Writes[Name],
  ): Promise<Acknowledgement> {
    const send: Call<Acknowledgement> = (client, caller) => client.write(caller, operation, input);
    return this.#call(viewer, operation, send);
  }

  /** A recently accepted token is not limited as an attempt. */
  #call<T>(
    viewer: Viewer,
    operation: OperationName,
    send: Call<T>,
    accepted: (answer: T, prove: Prove) => void = () => {},
  ): Promise<T> {
    const { client, ledger, trials, refusals } = this.#parts;
    const wasAccepted = ledger.isAccepted(viewer);
    const logicalTime = ledger.beginCall();
    const prove: Prove = (group) => {
      ledger.answered(viewer, operation, logicalTime, group);
      // The ledger is asked, because it may have recorded a refusal newer than this answer's call.
      if (!wasAccepted && ledger.isAccepted(viewer)) trials.accepted(viewer);
    };
    const sent = wasAccepted
      ? send(client, viewer, prove)
      : trials.guard(viewer, operation, () => send(client, viewer, prove));
    return sent.then(
      (answer) => {
        refusals.accepted(operation, viewer.login);
        accepted(answer, prove);
        return answer;
      },
      (error: unknown) => {
        // One without a status is known here already: it is none of the gateway's answers.
        if (isGatewayError(error, 'unauthenticated') && error.status !== null) {
          // A trial has told the ledger itself.
          if (wasAccepted) ledger.refused(viewer);
          this.#refused(viewer, operation, wasAccepted);
        }
        throw error;
      },
    );
  }

  #refused(viewer: Viewer, operation: OperationName, wasAccepted: boolean): void {
    this.#parts.refusals.refused(operation, viewer, wasAccepted);
    this.#parts.trials.refused(viewer);
  }
}
