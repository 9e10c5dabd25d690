import { expect, test } from 'vitest';
import { ProofLedger } from '../../../src/domain/auth/proof.ts';
import { createViewerGateway } from '../../../src/domain/auth/viewer-gateway.ts';
import type { GatewayClient, OrderEnd, OrderOptions } from '../../../src/gateway/client.ts';
import type { OrderCall } from '../../../src/gateway/operations.ts';
import { LogicalClock } from '../../../src/lib/clock.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { createTestUnknownTokens } from '../../support/unknown-tokens.ts';
import { viewerOf } from '../viewer.ts';

const REFUSED = { sent: true, answered: true, status: 401 } as OrderEnd;
const ORDER = { operation: 'openPosition' } as OrderCall;

test('a late 401 to an order ends the proof of its token, but not of the account’s other tokens', async () => {
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
  const late: OrderEnd[] = [];
  expect(await gateway.order(one, ORDER, (end) => late.push(end))).toBe(unanswered);
  expect(ledger.account(one)).not.toBeNull();
  answerLate?.(REFUSED);
  expect(late).toEqual([REFUSED]);
  expect(ledger.account(one)).toBeNull();
  expect(ledger.account(other)).not.toBeNull();
});
