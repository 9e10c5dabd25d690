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
    open.client.openPosition(anyCaller, marketOrder, null, (exchange) => void late.push(exchange));
  const placeFour = () => Promise.all([place(), place(), place(), place()]);

  expect(await placeFour()).toMatchObject([TIMEOUT, TIMEOUT, TIMEOUT, TIMEOUT]);
  await eventually(() => gateway.openConnections === 2);
  expect(late).toEqual([]);
  for (const socket of sockets) if (!socket.destroyed) socket.write(answer(200, ACCEPTED));
  await eventually(() => late.length === 2);
  expect(late).toMatchObject([{ status: 200 }, { status: 200 }]);

  // Whoever was read on makes room for the next.
  await placeFour();
  await eventually(() => gateway.openConnections === 2);
  await open.pools.close();
  await eventually(() => late.length === 4);
  expect(late.slice(2)).toMatchObject([{ answered: false }, { answered: false }]);
});
