import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { Exchange } from '../../src/gateway/exchange.ts';
import { eventually } from '../support/eventually.ts';
import { answer, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, marketOrder, openClient } from './open-client.ts';

const ACCEPTED = { success: true, orderId: '1', err: '', message: '' };
const TIMEOUT = { sent: true, answered: false, reason: 'timeout' };

test('of the orders past their deadlines, as many are read on as leave half of the connections free', async () => {
  const sockets: Socket[] = [];
  await using gateway = await startScriptedGateway((socket) => void sockets.push(socket));
  // Four for orders.
  const settings = { connections: 16, orderTimeoutMs: 100 };
  await using open = openClient(gateway.url, settings);
  const late: Exchange[] = [];
  const place = () =>
    open.client.openPosition(anyCaller, marketOrder, {
      onLate: (exchange) => void late.push(exchange),
    });
  const kept = () => sockets.filter(({ destroyed }) => !destroyed);
  // An order that a busy machine would send too late is not sent, and not read on.
  const untilHalfAreLate = () =>
    eventually(async () => {
      const ends = await Promise.all([place(), place(), place(), place()]);
      expect(ends.find(({ sent }) => sent)).toMatchObject(TIMEOUT);
      await eventually(() => kept().length <= 2);
      return kept().length === 2;
    });

  await untilHalfAreLate();
  expect(late).toEqual([]);
  for (const socket of kept()) socket.write(answer(200, ACCEPTED));
  await eventually(() => late.length === 2);
  expect(late).toMatchObject([{ status: 200 }, { status: 200 }]);

  // Whoever was read on makes room for the next.
  await untilHalfAreLate();
  await open.pools.close();
  await eventually(() => late.length === 4);
  expect(late.slice(2)).toMatchObject([{ answered: false }, { answered: false }]);
});
