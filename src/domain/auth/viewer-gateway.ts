import type {
  Acknowledgement,
  CatalogAnswer,
  PositionsAnswer,
  Read,
  SessionAnswer,
} from '../../gateway/answers.ts';
import type { Caller } from '../../gateway/caller.ts';
import type { GatewayClient } from '../../gateway/client.ts';
import {
  GatewayError,
  type GatewayErrorKind,
  isGatewayError,
  UnsafePathError,
} from '../../gateway/errors.ts';
import type { Exchange } from '../../gateway/exchange.ts';
import type { LimitOrder, MarketOrder } from '../../gateway/model.ts';
import { OPERATIONS, type OperationName } from '../../gateway/operations.ts';
import type { ProofLedger } from './proof.ts';
import type { ProofAttempts } from './proof-attempts.ts';
import type { TokenRefusals } from './token-refusals.ts';
import type { Viewer } from './viewer.ts';

export interface ViewerGatewayParts {
  readonly client: GatewayClient;
  readonly ledger: ProofLedger;
  readonly attempts: ProofAttempts;
  /** Is told which operations accept tokens and which refuse them. */
  readonly refusals: Pick<TokenRefusals, 'accepted' | 'refused'>;
  /** Called with every answer of op 12, a poll's too. */
  readonly onPositions: (viewer: Viewer, answer: PositionsAnswer) => void;
  /** Called with the end of each read that asked the gateway. */
  readonly onRead?: (operation: OperationName, result: ReadResult) => void;
}

export type ReadResult = 'ok' | GatewayErrorKind;

type Call<T> = (client: GatewayClient, caller: Caller) => Promise<T>;

/**
 * The gateway client for one viewer's calls. Every answer to a viewer's token passes through here, so that
 * the proof ledger records each acceptance and each refusal.
 */
export class ViewerGateway {
  readonly #client: GatewayClient;
  readonly #ledger: ProofLedger;
  readonly #attempts: ProofAttempts;
  readonly #refusals: ViewerGatewayParts['refusals'];
  readonly #onPositions: ViewerGatewayParts['onPositions'];
  readonly #onRead: NonNullable<ViewerGatewayParts['onRead']>;

  constructor({ client, ledger, attempts, refusals, onPositions, onRead }: ViewerGatewayParts) {
    this.#onRead = onRead ?? (() => {});
    this.#refusals = refusals;
    this.#client = client;
    this.#ledger = ledger;
    this.#attempts = attempts;
    this.#onPositions = onPositions;
  }

  /** A read that needs nothing but its viewer; what its 200 proves is in its row. */
  read<T>(viewer: Viewer, read: Read<T>): Promise<T> {
    const { operation } = read;
    const call: Call<T> = (client, caller) => client.read(caller, read, { login: viewer.login });
    return OPERATIONS[operation].proves === 'token'
      ? this.#proving(viewer, operation, call)
      : this.#read(viewer, operation, call, () => null);
  }

  async getAllTickers(viewer: Viewer, group: string, etag: string | null): Promise<CatalogAnswer> {
    try {
      return await this.#read(
        viewer,
        'getAllTickers',
        (client, caller) => client.getAllTickers(caller, group, etag),
        // A 304 may come from an intermediate cache that never saw this token.
        ({ modified }) => (modified ? group : null),
      );
    } catch (error) {
      if (isGatewayError(error, 'forbidden')) {
        this.#ledger.catalogForbidden(viewer, group);
      }
      // The session's group precedes the token's.
      if (error instanceof UnsafePathError && group !== viewer.claimedGroup) {
        throw new UnsafePathError(error.parameter, 'session');
      }
      throw error;
    }
  }

  getSession(viewer: Viewer): Promise<SessionAnswer> {
    return this.#read(
      viewer,
      'getSession',
      (client, caller) => client.getSession(caller, viewer.login),
      ({ session }) => session.group,
    );
  }

  async getOpenPositions(
    viewer: Viewer,
    previous: PositionsAnswer | null,
  ): Promise<PositionsAnswer> {
    const answer = await this.#proving(viewer, 'getOpenPositions', (client, caller) =>
      client.getOpenPositions(caller, previous),
    );
    this.#onPositions(viewer, answer);
    return answer;
  }

  /** `sendBeforeMs`: by this machine's date; null: at any time. */
  openPosition(
    viewer: Viewer,
    order: MarketOrder,
    sendBeforeMs: number | null = null,
  ): Promise<Exchange> {
    return this.#ordering(viewer, 'openPosition', (caller) =>
      this.#client.openPosition(caller, order, sendBeforeMs),
    );
  }

  placeLimitOrder(
    viewer: Viewer,
    order: LimitOrder,
    sendBeforeMs: number | null = null,
  ): Promise<Exchange> {
    return this.#ordering(viewer, 'placeLimitOrder', (caller) =>
      this.#client.placeLimitOrder(caller, order, sendBeforeMs),
    );
  }

  /** A small write: its success proves nothing, its 401 ends proof like any other. */
  async write(
    viewer: Viewer,
    operation: OperationName,
    send: Call<Acknowledgement>,
  ): Promise<Acknowledgement> {
    const wasAccepted = this.#ledger.isAccepted(viewer);
    try {
      const acknowledgement = await this.#guarded(viewer, operation, send, wasAccepted);
      this.#refusals.accepted(operation, viewer.login);
      return acknowledgement;
    } catch (error) {
      throw this.#noteRefusal(viewer, operation, error, wasAccepted);
    }
  }

  /** A read whose 200 proves its token, for the other fields of its request as well. */
  #proving<T>(viewer: Viewer, operation: OperationName, read: Call<T>): Promise<T> {
    const answer = this.#read(viewer, operation, read, () => null);
    const { provingReads } = viewer;
    if (provingReads) {
      const settled = () => void provingReads.delete(ended);
      const ended = answer.then(settled, settled);
      provingReads.add(ended);
    }
    return answer;
  }

  async #read<T>(
    viewer: Viewer,
    operation: OperationName,
    read: Call<T>,
    groupOf: (answer: T) => string | null,
  ): Promise<T> {
    const wasAccepted = this.#ledger.isAccepted(viewer);
    try {
      const logicalTime = this.#ledger.beginCall();
      const answer = await this.#guarded(viewer, operation, read, wasAccepted);
      this.#onRead(operation, 'ok');
      this.#refusals.accepted(operation, viewer.login);
      this.#ledger.answered(viewer, operation, logicalTime, groupOf(answer));
      // The ledger is asked, because it may have recorded a refusal newer than this answer's call.
      if (!wasAccepted && this.#ledger.isAccepted(viewer)) this.#attempts.accepted(viewer);
      return answer;
    } catch (error) {
      // A cached refusal of a token is none of the gateway's answers.
      if (
        error instanceof GatewayError &&
        !(isGatewayError(error, 'unauthenticated') && error.status === null)
      ) {
        this.#onRead(operation, error.kind);
      }
      throw this.#noteRefusal(viewer, operation, error, wasAccepted);
    }
  }

  async #ordering(
    viewer: Viewer,
    operation: OperationName,
    send: (caller: Caller) => Promise<Exchange>,
  ): Promise<Exchange> {
    const wasAccepted = this.#ledger.isAccepted(viewer);
    const exchange = await send(viewer.caller);
    if (!exchange.sent || !exchange.answered) return exchange;
    if (exchange.status === 401) this.#refused(viewer, operation, wasAccepted);
    else if (exchange.status < 500) this.#refusals.accepted(operation, viewer.login);
    return exchange;
  }

  /** A recently accepted token is not limited as an attempt. */
  #guarded<T>(
    viewer: Viewer,
    operation: OperationName,
    send: Call<T>,
    wasAccepted: boolean,
  ): Promise<T> {
    return wasAccepted
      ? send(this.#client, viewer.caller)
      : this.#attempts.guard(viewer, operation, () => send(this.#client, viewer.caller));
  }

  #noteRefusal(
    viewer: Viewer,
    operation: OperationName,
    error: unknown,
    wasAccepted: boolean,
  ): unknown {
    // Without a status the refusal is a cached one, which the ledger has recorded.
    if (isGatewayError(error, 'unauthenticated') && error.status !== null) {
      this.#refused(viewer, operation, wasAccepted);
    }
    return error;
  }

  #refused(viewer: Viewer, operation: OperationName, wasAccepted: boolean): void {
    this.#ledger.refused(viewer);
    this.#refusals.refused(operation, viewer, wasAccepted);
  }
}
