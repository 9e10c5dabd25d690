import { AccountReads } from '../../../src/domain/account/account-reads.ts';
import { NewestPositions } from '../../../src/domain/account/newest-positions.ts';
import { Prover } from '../../../src/domain/account/prover.ts';
import { Sessions, type SessionsOptions } from '../../../src/domain/account/sessions.ts';
import { ProofLedger } from '../../../src/domain/auth/proof.ts';
import { createViewerGateway } from '../../../src/domain/auth/viewer-gateway.ts';
import { GatewayClient } from '../../../src/gateway/client.ts';
import type { Exchange } from '../../../src/gateway/exchange.ts';
import { OPEN_POSITIONS } from '../../../src/gateway/operations/get-open-positions.ts';
import { SESSION } from '../../../src/gateway/operations/get-session.ts';
import { POSITION } from '../../../src/gateway/operations/holdings.ts';
import { LogicalClock } from '../../../src/lib/clock.ts';
import type { AccountVersions } from '../../../src/store/shared-store.ts';
import { clientSettings } from '../../gateway/open-client.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { createTestUnknownTokens } from '../../support/unknown-tokens.ts';

export const MAX_AGE_MS = 60_000;
export const PROOF_MS = 300_000;

/** A gateway call that the test answers. */
export interface OpenCall {
  readonly operation: string;
  answer(body: unknown, status?: number): void;
}

/** Creates the account's parts of the domain over the real gateway client. A test answers the calls in any order. */
export function openAccountWorld({
  versions,
  ...options
}: Pick<Partial<SessionsOptions>, 'maxAgeMs' | 'maxBytes'> & {
  readonly versions?: AccountVersions;
} = {}) {
  // The client reads the times of answers from the system clock, so both clocks must begin at the same time.
  const clock = createScriptedClock(Date.now());
  const logicalClock = new LogicalClock();
  const ledger = new ProofLedger({ clock, logicalClock, proofMs: PROOF_MS });
  const accountReads = new AccountReads(logicalClock, versions ?? null);
  const newestPositions = new NewestPositions(ledger, 1e8);
  const calls: OpenCall[] = [];
  const client = new GatewayClient({
    send({ operation }) {
      const { promise, resolve } = Promise.withResolvers<Exchange>();
      const logicalTime = logicalClock.next();
      const sent = { sent: true, logicalTime, sentAtMs: clock.now() } as const;
      calls.push({
        operation: operation.name,
        answer: (body, status = 200) =>
          resolve({
            ...sent,
            answered: true,
            status,
            headers: { 'content-type': 'application/json' },
            bytes: Buffer.from(JSON.stringify(body)),
          }),
      });
      return promise;
    },
    ...clientSettings(1_000),
  });
  const viewerGateway = createViewerGateway({
    client,
    ledger,
    unknownTokens: createTestUnknownTokens(clock, ledger),
  });
  const gateway: typeof viewerGateway = {
    ...viewerGateway,
    async getOpenPositions(viewer, previous) {
      const answer = await viewerGateway.getOpenPositions(viewer, previous);
      newestPositions.offer(viewer, answer);
      return answer;
    },
  };
  const sessions = new Sessions({
    gateway,
    accountReads,
    newestPositions,
    ledger,
    clock,
    logicalClock,
    maxAgeMs: MAX_AGE_MS,
    maxBytes: 1e8,
    ...options,
  });
  const prover = new Prover({ ledger, sessions, gateway, accountReads, logicalClock });
  return {
    accountReads,
    clock,
    client,
    logicalClock,
    ledger,
    gateway,
    newestPositions,
    sessions,
    prover,
    calls,
  };
}

/** The body of op 10's answer for the login 1001, with positions of these ids. */
export function snapshot(balance: number, positions: readonly string[] = [], change: object = {}) {
  const account = { login: 1001, group: 'standard', balance, orders: [] };
  return SESSION.toWire({ ...account, positions: rowsOf(positions), ...change } as never);
}

/** The body of op 12's answer, with positions of these ids. */
export function listOf(...positions: readonly string[]) {
  return OPEN_POSITIONS.toWire({ positions: rowsOf(positions) });
}

function rowsOf(ids: readonly string[]) {
  return ids.map((id) => POSITION.toWire({ id, symbol: 'AAPL' } as never));
}
