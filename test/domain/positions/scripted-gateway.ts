import type { ProofLedger } from '../../../src/domain/auth/proof.ts';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import type { PositionsSource } from '../../../src/domain/positions/feed.ts';
import type { PositionsAnswer } from '../../../src/gateway/answers.ts';
import { GatewayError, type GatewayErrorKind } from '../../../src/gateway/errors.ts';
import type { Position } from '../../../src/gateway/model.ts';
import type { Clock } from '../../../src/lib/clock.ts';

export interface Poll {
  readonly login: string;
  readonly token: string | null;
  readonly atMs: number;
}

type Fault = (viewer: Viewer) => GatewayError | null;

/** A scripted op 12: lists by account, faults, and the latency of an answer. */
export class ScriptedGateway implements PositionsSource {
  readonly polls: Poll[] = [];
  /** Op 10 calls by token. */
  readonly sessions: Poll[] = [];
  latencyMs = 0;
  fault: Fault = () => null;
  sessionFault: Fault = () => null;
  /** The answers, by the millisecond at which each was received. */
  readonly answered = new Map<number, readonly Position[]>();
  readonly #lists = new Map<string, readonly Position[]>();
  readonly #clock: Clock;
  readonly #ledger: ProofLedger;
  #sequence = 0;

  constructor(clock: Clock, ledger: ProofLedger) {
    this.#clock = clock;
    this.#ledger = ledger;
  }

  set(login: string, positions: readonly Position[]): void {
    this.#lists.set(login, positions);
  }

  failWith(kind: GatewayErrorKind, retryAfterSeconds?: number): void {
    this.fault = () => gatewayError(kind, retryAfterSeconds);
  }

  heal(): void {
    this.fault = () => null;
  }

  nextSequence(): number {
    this.#sequence += 1;
    return this.#sequence;
  }

  async getOpenPositions(
    viewer: Viewer,
    previous: PositionsAnswer | null,
  ): Promise<PositionsAnswer> {
    const sent = { sequence: this.nextSequence(), sentAtMs: this.#clock.now() };
    this.polls.push(this.#poll(viewer));
    const turn = this.#ledger.beginCall();
    const error = this.fault(viewer);
    const list = this.#lists.get(viewer.login) ?? [];
    if (this.latencyMs > 0) {
      await new Promise<void>((resolve) => void this.#clock.after(this.latencyMs, resolve));
    }
    if (error?.kind === 'unauthenticated') this.#ledger.refused(viewer);
    if (error) throw error;
    this.#ledger.answered(viewer, 'getOpenPositions', turn);
    this.answered.set(Math.trunc(this.#clock.now()), list);
    const bytes = Buffer.from(JSON.stringify(list));
    const isSame = previous?.bytes.equals(bytes);
    return {
      ...sent,
      receivedAtMs: this.#clock.now(),
      // Mapped anew, as the client does: equal fields, other objects.
      positions: isSame ? (previous?.positions ?? []) : list.map((each) => ({ ...each })),
      bytes: isSame ? (previous?.bytes ?? bytes) : bytes,
    };
  }

  async getSession(viewer: Viewer): Promise<void> {
    this.sessions.push(this.#poll(viewer));
    const turn = this.#ledger.beginCall();
    const error = this.sessionFault(viewer);
    if (error) throw error;
    this.#ledger.answered(viewer, 'getSession', turn);
  }

  #poll({ login, caller }: Viewer): Poll {
    return { login, token: caller.token, atMs: this.#clock.now() };
  }
}

export function gatewayError(kind: GatewayErrorKind, retryAfterSeconds?: number): GatewayError {
  return new GatewayError(kind, 'getOpenPositions', 'scripted', {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

export function position(id: string, fields: Partial<Position> = {}): Position {
  return {
    id,
    symbol: `SYMBOL.${id}`,
    side: 'BUY',
    name: null,
    logo: null,
    delayed: false,
    sharia: true,
    digits: 2,
    units: 1,
    priceOpen: 10,
    priceCurrent: 10,
    createdAt: 1_700_000_000_000,
    updatedAt: null,
    leverage: 5,
    rateMargin: 1,
    rateProfit: 1,
    stopLoss: 0,
    takeProfit: 0,
    storage: 0,
    comment: '',
    profit: 0,
    invested: 10,
    ...fields,
  };
}
