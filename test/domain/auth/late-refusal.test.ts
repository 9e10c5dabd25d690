import { expect, test } from 'vitest';
import { ProofLedger } from '../../../src/domain/auth/proof.ts';
import { createViewerGateway } from '../../../src/domain/auth/viewer-gateway.ts';
import type { GatewayClient } from '../../../src/gateway/client.ts';
import type { OrderEnd, OrderOptions } from '../../../src/gateway/order-calls.ts';
import { LogicalClock } from '../../../src/lib/clock.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { createTestUnknownTokens } from '../../support/unknown-tokens.ts';
import { viewerOf } from '../viewer.ts';

test('a 401 that answers an order late ends the proof of its token, and of no other of the account', async () => {
  const clock = createScriptedClock();
  const ledger = new ProofLedger({ clock, logicalClock: new LogicalClock(), proofMs: 60_000 });
  const [one, other] = [viewerOf('one'), viewerOf('other')];
  for (const each of [one, other]) ledger.answered(each, 'getSession', ledger.beginCall(), null);
  let answerLate: OrderOptions['onLate'];
  const unanswered = { sent: true, answered: false, reason: 'timeout' } as OrderEnd;
  const client = {
    async order(_caller: unknown, _operation: unknown, _order: unknown, { onLate }: OrderOptions) {
      answerLate = onLate;
      return unanswered;
    },
  } as unknown as GatewayClient;
  const gateway = createViewerGateway({
    client,
    ledger,
    unknownTokens: createTestUnknownTokens(clock, ledger),
  });
  const told: OrderEnd[] = [];
  const call = { operation: 'openPosition' } as Parameters<typeof gateway.order>[1];
  expect(await gateway.order(one, call, (end) => told.push(end))).toBe(unanswered);
  expect(ledger.account(one)).not.toBeNull();
  const refusal = { sent: true, answered: true, status: 401 } as OrderEnd;
  answerLate?.(refusal);
  expect(told).toEqual([refusal]);
  expect(ledger.account(one)).toBeNull();
  expect(ledger.account(other)).not.toBeNull();
});
