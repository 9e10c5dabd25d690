import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { inFull } from '../../support/in-full.ts';
import { startOrderFacade } from './order-facade.ts';
import { buying, waiting } from './order-request.ts';
import { createSeededRandom } from './seeded-random.ts';

const GATEWAY_IDLE_MS = 2_000;
const FACADES = inFull(6, 4);
const ROUNDS = inFull(6, 4);
const BURST = 80;

test('a gateway that closes idle connections after two seconds leaves no order unknown', async () => {
  await using sandbox = await startSandbox({
    instruments: 40,
    tickMs: 0,
    idleTimeoutMs: GATEWAY_IDLE_MS,
  });
  const random = createSeededRandom(7);
  const outcomes = new Map<string, number>();
  await Promise.all(
    Array.from({ length: FACADES }, async (_, facadeNumber) => {
      const environment = {
        GATEWAY_CONNECTIONS: '64',
        // A busy machine needs long for so many orders; an idle connection is what is tested here.
        ORDER_TIMEOUT_MS: '60000',
        SHUTDOWN_GRACE_MS: '70000',
      };
      await using facade = await startOrderFacade(environment, sandbox);
      const clients = Array.from({ length: 10 }, (_, n) =>
        facade.client({ email: `user-${facadeNumber * 10 + n + 1}@example.com` }),
      );
      for (let round = 0; round < ROUNDS; round += 1) {
        // The wait mostly ends just when the gateway closes its idle connections.
        const edgeMs = GATEWAY_IDLE_MS - 15 + random.below(20);
        if (round > 0) await delay(random.happens(0.7) ? edgeMs : random.below(1_200));
        await Promise.all(
          Array.from({ length: BURST }, async (_, n) => {
            const key = `${round}/${n}`;
            const order = n % 2 ? buying(key, 'NVDA') : waiting(key, 'NVDA');
            const reply = await clients[n % clients.length]?.place(order, {
              transport: n % 3 ? 'http' : 'socket',
            });
            const isAccepted = reply?.kind === 'outcome' && reply.type === 'OrderAccepted';
            const name = isAccepted ? reply.type : JSON.stringify(reply);
            outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
          }),
        );
      }
    }),
  );
  expect([...outcomes]).toEqual([['OrderAccepted', FACADES * ROUNDS * BURST]]);
}, 300_000);
