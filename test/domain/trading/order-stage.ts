import { AccountProof, ProofLedger } from '../../../src/domain/auth/proof.ts';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import type { OrderGateway } from '../../../src/domain/trading/submitter.ts';
import { marketTicket, type Ticket } from '../../../src/domain/trading/ticket.ts';
import type { Exchange } from '../../../src/gateway/exchange.ts';
import { systemClock } from '../../../src/lib/clock.ts';

/** One gateway call whose end the test decides. */
export interface WaitingCall {
  readonly viewer: Viewer;
  readonly operation: string;
  readonly symbol: string;
  readonly end: (exchange: Exchange | Error) => void;
}

/** A gateway whose answers the test gives one by one. */
export function createScriptedGateway() {
  const calls: WaitingCall[] = [];
  function take(operation: string) {
    return (viewer: Viewer, order: { symbol: string }): Promise<Exchange> => {
      const { promise, resolve, reject } = Promise.withResolvers<Exchange>();
      const end = (exchange: Exchange | Error) =>
        exchange instanceof Error ? reject(exchange) : resolve(exchange);
      calls.push({ viewer, operation, symbol: order.symbol, end });
      return promise;
    };
  }
  const gateway: OrderGateway = {
    openPosition: take('openPosition'),
    placeLimitOrder: take('placeLimitOrder'),
  };
  return { gateway, calls };
}

export function viewerOf(token: string, login = '1001', signal?: AbortSignal): Viewer {
  return {
    caller: { token, ...(signal && { signal }) },
    tokenHash: token,
    login,
    claimedGroup: null,
    expiresAtMs: null,
  };
}

export function proofOf(viewer: Viewer): AccountProof {
  const ledger = new ProofLedger({ clock: systemClock, proofMs: 1_000 });
  ledger.verified(viewer);
  const proof = ledger.account(viewer);
  if (!(proof instanceof AccountProof)) throw new Error('a verified token is proved');
  return proof;
}

export function ticketOf(idempotencyKey: string, symbol = 'AAPL'): Ticket {
  return marketTicket({ symbol, side: 'BUY', size: { units: 1 }, idempotencyKey });
}

export const notSent: Exchange = { sent: false, cause: new Error('connection refused') };

export function answered(status: number, body: object = {}): Exchange {
  return {
    sent: true,
    answered: true,
    status,
    headers: {},
    bytes: Buffer.from(JSON.stringify(body)),
    sequence: 1,
    sentAtMs: 1_000,
  };
}

export const acceptedAs = (orderId: string) => answered(200, { success: true, orderId });

export function createTestLog() {
  const lines: string[] = [];
  const add = (_fields: unknown, message?: unknown) => void lines.push(String(message));
  return { lines, error: add, warn: add };
}
