import { expect, test } from 'vitest';
import { ProofLedger } from '../../../src/domain/auth/proof.ts';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import {
  createViewerGateway,
  type ViewerGateway,
} from '../../../src/domain/auth/viewer-gateway.ts';
import type { GatewayClient, OrderEnd, OrderOptions } from '../../../src/gateway/client.ts';
import { GatewayError } from '../../../src/gateway/gateway-error.ts';
import { OPERATIONS, type OrderCall } from '../../../src/gateway/operations.ts';
import { LogicalClock } from '../../../src/lib/clock.ts';
import { KnownKeys } from '../../../src/lib/limits/known-keys.ts';
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

type Send = (gateway: ViewerGateway, viewer: Viewer) => Promise<unknown>;
const CALLS: readonly (readonly [string, Send])[] = [
  ['a read', (gateway, viewer) => gateway.read(viewer, OPERATIONS.getCustomerId)],
  ['an order', (gateway, viewer) => gateway.order(viewer, ORDER)],
];

test.each(CALLS)('a 401 to %s makes only the refused token unknown', async (_what, send) => {
  const clock = createScriptedClock();
  const ledger = new ProofLedger({ clock, logicalClock: new LogicalClock(), proofMs: 60_000 });
  const known = new KnownKeys(clock, 60_000);
  const [refused, other] = [viewerOf('refused'), viewerOf('other')];
  for (const { tokenHash } of [refused, other]) known.add(tokenHash);
  const client = {
    async read() {
      throw new GatewayError('unauthenticated', 'getCustomerId', 'no', { status: 401 });
    },
    order: async () => REFUSED,
  } as unknown as GatewayClient;
  const unknownTokens = createTestUnknownTokens(clock, ledger, known);
  const gateway = createViewerGateway({ client, ledger, unknownTokens });
  await send(gateway, refused).catch(() => {});
  expect(known.has(refused.tokenHash)).toBe(false);
  expect(known.has(other.tokenHash)).toBe(true);
});
