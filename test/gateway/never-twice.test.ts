import type { Socket } from 'node:net';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Exchange } from '../../src/gateway/exchange.ts';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import { createRandom } from '../../src/sandbox/random.ts';
import { eventually } from '../support/eventually.ts';
import { answer, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, marketOrder, openClient } from './open-client.ts';

const ACCEPTED = answer(200, { success: true, orderId: '1', err: '', message: '' });
const DEADLINE_MS = 120;
/** How often each outcome must happen at least. Otherwise the run proves nothing. */
const ENOUGH = { unsent: 50, unknown: 500, answered: 200 };
const MIN_ORDERS = 4_000;
/** A busy machine may need this many orders to reach the numbers in `ENOUGH`. */
const MAX_ORDERS = 20_000;

/** Reactions of a gateway or the network to a request that was received. */
const REACTIONS: readonly ((socket: Socket, random: () => number) => void)[] = [
  (socket) => socket.write(ACCEPTED),
  (socket) => socket.write(ACCEPTED),
  (socket) => socket.write(ACCEPTED),
  (socket) => socket.end(ACCEPTED),
  (socket) => socket.resetAndDestroy(),
  (socket) => socket.destroy(),
  (socket) => socket.end(),
  (socket, random) => socket.end(ACCEPTED.subarray(0, Math.floor(random() * ACCEPTED.length))),
  (socket) => socket.write(ACCEPTED.subarray(0, 40), () => socket.resetAndDestroy()),
  (socket) => socket.write(ACCEPTED, () => socket.resetAndDestroy()),
  (socket, random) => {
    socket.write(ACCEPTED);
    setTimeout(() => socket.resetAndDestroy(), random() * 4);
  },
  (socket, random) => {
    socket.write(ACCEPTED);
    setTimeout(() => socket.end(), random() * 4);
  },
  (socket) => socket.write(Buffer.concat([ACCEPTED, ACCEPTED])),
  (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'),
  (socket) => {
    socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n');
    socket.write(ACCEPTED);
  },
  (socket) => socket.write('HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n{}'),
  (socket) => socket.write('garbage\r\n\r\n'),
  () => {},
  (socket, random) => setTimeout(() => socket.write(ACCEPTED), DEADLINE_MS * 2 * random()),
];

test('no order is ever sent twice, and an order that was "not sent" is never received', async () => {
  const random = createRandom('never twice');
  /** How often the head of each order was received. */
  const heads = new Map<string, number>();
  await using gateway = await startScriptedGateway(
    (socket) => REACTIONS[Math.floor(random() * REACTIONS.length)]?.(socket, random),
    {
      onConnection: (socket) => {
        const chance = random();
        if (chance < 0.05) socket.resetAndDestroy();
        else if (chance < 0.1) setTimeout(() => socket.resetAndDestroy(), random() * 10);
      },
      onHead: (socket, head) => {
        const id = /user-agent\r\n(\S+)/.exec(head)?.[1] ?? 'no client';
        heads.set(id, (heads.get(id) ?? 0) + 1);
        if (random() < 0.05) socket.resetAndDestroy();
      },
    },
  );
  // The client has few connections, so that many orders wait for a connection, and some orders never get one.
  await using open = openClient(gateway.url, {
    connections: 32,
    orderTimeoutMs: DEADLINE_MS,
    gatewayForwardClient: true,
  });

  const exchanges = new Map<string, Exchange>();
  const counts = { unsent: 0, unknown: 0, answered: 0 };
  const isEnough = () =>
    counts.unsent >= ENOUGH.unsent &&
    counts.unknown >= ENOUGH.unknown &&
    counts.answered >= ENOUGH.answered;
  let placed = 0;
  const isDone = () => placed >= MAX_ORDERS || (placed >= MIN_ORDERS && isEnough());
  const workers = Array.from({ length: 24 }, async () => {
    while (!isDone()) {
      const id = `order-${placed}`;
      placed += 1;
      const sender = { address: '127.0.0.1', userAgent: id };
      const exchange = await open.client.order(
        { ...anyCaller, sender },
        OPERATIONS.openPosition,
        marketOrder,
      );
      exchanges.set(id, exchange);
      counts[outcomeOf(exchange)] += 1;
      const pause = random();
      if (pause < 0.2) await setImmediate();
      else if (pause < 0.3) await delay(pause * 20);
    }
  });
  await Promise.all(workers);
  await open.pools.close();
  await eventually(() => expect(gateway.openConnections).toBe(0));

  const orders = [...exchanges].map(([id, exchange]) => {
    return { id, outcome: outcomeOf(exchange), times: heads.get(id) ?? 0 };
  });
  expect(orders.filter(({ times }) => times > 1)).toEqual([]);
  expect(orders.filter(({ outcome, times }) => outcome === 'unsent' && times > 0)).toEqual([]);
  expect(orders.filter(({ outcome, times }) => outcome === 'answered' && times !== 1)).toEqual([]);
  expect(isEnough(), JSON.stringify(counts)).toBe(true);
  expect(heads.has('no client')).toBe(false);
}, 600_000);

function outcomeOf(exchange: Exchange): keyof typeof ENOUGH {
  if (!exchange.sent) return 'unsent';
  return exchange.answered ? 'answered' : 'unknown';
}
