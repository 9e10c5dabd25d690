import type { ProofLedger } from '../../../src/domain/auth/proof.ts';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import { GatewayError, type GatewayErrorKind } from '../../../src/gateway/gateway-error.ts';
import type { PositionsAnswer } from '../../../src/gateway/operations/get-open-positions.ts';
import type { Session, SessionAnswer } from '../../../src/gateway/operations/get-session.ts';
import {
  inSnapshot,
  type Order,
  POSITIONS,
  type Position,
} from '../../../src/gateway/operations/holdings.ts';
import { readingIn } from '../../../src/gateway/scalars.ts';
import { LOGIN, TOKEN_TEXT, textOf } from '../../../src/lib/account.ts';
import type { Clock, LogicalClock } from '../../../src/lib/clock.ts';
import { positionRow } from '../../gateway/wire/rows.ts';

/** A call of op 12 or op 10. */
export interface Poll {
  readonly login: string;
  readonly token: string | null;
  readonly atMs: number;
}

export interface ScriptedAccount {
  readonly orders?: readonly Order[];
  readonly balance?: number;
}

type Fault = (viewer: Viewer) => GatewayError | null;

/** A gateway with only op 12 and op 10. A test sets its lists, faults and latencies. */
export class ScriptedGateway {
  /** The calls of op 12. */
  readonly polls: Poll[] = [];
  /** The calls of op 10. */
  readonly sessions: Poll[] = [];
  latencyMs = 0;
  fault: Fault = () => null;
  sessionFault: Fault = () => null;
  sessionLatencyMs = 0;
  /** Changes snapshots before they are answered. */
  changeSession: (session: Session) => Session = (session) => session;
  readonly #lists = new Map<string, readonly Position[]>();
  readonly #accounts = new Map<string, ScriptedAccount>();
  readonly #clock: Clock;
  readonly #ledger: ProofLedger;
  readonly #logicalClock: LogicalClock;

  constructor(clock: Clock, ledger: ProofLedger, logicalClock: LogicalClock) {
    this.#logicalClock = logicalClock;
    this.#clock = clock;
    this.#ledger = ledger;
  }

  set(login: string, positions: readonly Position[]): void {
    this.#lists.set(login, positions);
  }

  /** The content of op 10 other than the positions. */
  setAccount(login: string, account: ScriptedAccount): void {
    this.#accounts.set(login, account);
  }

  failWith(kind: GatewayErrorKind, retryAfterSeconds?: number): void {
    this.fault = () => gatewayError(kind, retryAfterSeconds);
  }

  heal(): void {
    this.fault = () => null;
  }

  async getOpenPositions(
    viewer: Viewer,
    previous: PositionsAnswer | null,
  ): Promise<PositionsAnswer> {
    const sent = { logicalTime: this.#logicalClock.next(), sentAtMs: this.#clock.now() };
    this.polls.push(this.#call(viewer));
    const logicalTime = this.#ledger.beginCall();
    const error = this.fault(viewer);
    const list = this.#lists.get(textOf(viewer[LOGIN])) ?? [];
    if (this.latencyMs > 0) {
      await new Promise<void>((resolve) => void this.#clock.after(this.latencyMs, resolve));
    }
    if (error?.kind === 'unauthenticated') this.#ledger.refused(viewer);
    if (error) throw error;
    this.#ledger.answered(viewer, 'getOpenPositions', logicalTime);
    const body = JSON.stringify(list);
    const isSame = previous?.bodyHash === body;
    return {
      ...sent,
      receivedAtMs: this.#clock.now(),
      // New objects with equal fields, as the client maps them.
      rows: isSame ? (previous?.rows ?? []) : list.map((each) => ({ ...each })),
      ...bodyOf(body),
    };
  }

  cached(): null {
    return null;
  }

  poll(viewer: Viewer): Promise<SessionAnswer> {
    return this.getSession(viewer);
  }

  async getSession(viewer: Viewer): Promise<SessionAnswer> {
    const sent = { logicalTime: this.#logicalClock.next(), sentAtMs: this.#clock.now() };
    this.sessions.push(this.#call(viewer));
    const logicalTime = this.#ledger.beginCall();
    const error = this.sessionFault(viewer);
    const session = this.#session(textOf(viewer[LOGIN]));
    if (this.sessionLatencyMs > 0) {
      await new Promise<void>((resolve) => void this.#clock.after(this.sessionLatencyMs, resolve));
    }
    if (error?.kind === 'unauthenticated') this.#ledger.refused(viewer);
    if (error) throw error;
    this.#ledger.answered(viewer, 'getSession', logicalTime);
    return { ...sent, receivedAtMs: this.#clock.now(), session: this.changeSession(session) };
  }

  #session(login: string): Session {
    const { orders = [], balance = 0 } = this.#accounts.get(login) ?? {};
    const positions = inSnapshot((this.#lists.get(login) ?? []).map((each) => ({ ...each })));
    return { ...SESSION, login, balance, positions, orders: orders.map((each) => ({ ...each })) };
  }

  #call({ [LOGIN]: login, token }: Viewer): Poll {
    return { login: textOf(login), token: token[TOKEN_TEXT], atMs: this.#clock.now() };
  }
}

/** The body itself serves as its hash. */
function bodyOf(body: string) {
  return { bodyHash: body, bodyBytes: body.length };
}

/** An answer of op 12 that did not come from the scripted gateway. */
export function answerOf(
  rows: readonly Position[],
  sent: { readonly logicalTime: number; readonly atMs: number },
): PositionsAnswer {
  const { logicalTime, atMs } = sent;
  const body = bodyOf(JSON.stringify(rows));
  return { rows, ...body, logicalTime, sentAtMs: atMs, receivedAtMs: atMs };
}

export function gatewayError(kind: GatewayErrorKind, retryAfterSeconds?: number): GatewayError {
  return new GatewayError(kind, 'getOpenPositions', 'scripted', {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

const [PLAIN] = POSITIONS.read([positionRow], readingIn('auto')) as [Position];

export function position(id: string, fields: Partial<Position> = {}): Position {
  const money = { priceOpen: 10, priceCurrent: 10, profit: 0, invested: 10 };
  return { ...PLAIN, id, symbol: `SYMBOL.${id}`, units: 1, ...money, ...fields };
}

/** A session without the figures that no feed test reads. */
const SESSION = { group: 'standard', currency: 'USD' } as Session;

export function order(id: string, fields: Partial<Order> = {}): Order {
  const { rateProfit: _, storage: __, profit: ___, ...holding } = position(id);
  return { ...holding, kind: 'LIMIT', state: 1, useMargin: false, ...fields };
}
