import { describe, expect, test } from 'vitest';
import type { ObserveCall } from '../../src/gateway/exchange.ts';
import { eventually } from '../support/eventually.ts';
import { answer, type Script, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, limitOrder, marketOrder, openClient } from './open-client.ts';
import { caller, openResilient } from './resilience/open-resilient.ts';

const ACCEPTED = { success: true, orderId: '1', err: '', message: '' };
const accept: Script = (socket) => socket.write(answer(200, ACCEPTED));
/** Three pools of one connection each. */
const NARROW = { connections: 3 };
const HOUR_MS = 3_600_000;

describe('an order that is meant to be sent before a moment', () => {
  test('is not sent where that has passed when its head would go onto a socket', async () => {
    const answers: (() => void)[] = [];
    await using gateway = await startScriptedGateway((socket) => {
      answers.push(() => socket.write(answer(200, ACCEPTED)));
    });
    const outcomes: string[] = [];
    const observe: ObserveCall = (_call, outcome) => outcomes.push(outcome);
    await using open = openClient(gateway.url, { ...NARROW, observe });
    const first = open.client.openPosition(anyCaller, marketOrder);
    await eventually(() => answers.length === 1);
    const sendBeforeMs = Date.now() + 30;
    const late = [
      open.client.openPosition(anyCaller, marketOrder, { sendBeforeMs }),
      open.client.placeLimitOrder(anyCaller, limitOrder, { sendBeforeMs }),
    ];
    const timely = open.client.openPosition(anyCaller, marketOrder, {
      sendBeforeMs: sendBeforeMs + HOUR_MS,
    });
    const endless = open.client.openPosition(anyCaller, marketOrder);
    await eventually(() => Date.now() > sendBeforeMs);
    for (let sent = 0; sent < 3; sent += 1) {
      await eventually(() => answers.length > sent);
      answers[sent]?.();
    }
    const accepted = { sent: true, answered: true, status: 200 };
    const others = await Promise.all([first, timely, endless]);
    expect(others).toMatchObject([accepted, accepted, accepted]);
    const expired = { sent: false, cause: expect.objectContaining({ reason: 'expired' }) };
    expect(await Promise.all(late)).toEqual([expired, expired]);
    expect(gateway.requests).toHaveLength(3);
    // What was held back has not cost a connection.
    expect(gateway.connections).toBe(3);
    expect(outcomes.toSorted()).toEqual(['expired', 'expired', 'ok', 'ok', 'ok']);
  });

  test('is sent at the moment itself, and not a millisecond later', async () => {
    await using gateway = await startScriptedGateway(accept);
    await using open = openClient(gateway.url);
    const date = Date.now;
    try {
      const nowMs = date();
      Date.now = () => nowMs;
      const at = await open.client.openPosition(anyCaller, marketOrder, { sendBeforeMs: nowMs });
      const after = await open.client.openPosition(anyCaller, marketOrder, {
        sendBeforeMs: nowMs - 1,
      });
      expect([at.sent, after.sent]).toEqual([true, false]);
    } finally {
      Date.now = date;
    }
  });
});

test('orders that come too late open no breaker', async () => {
  await using gateway = await startScriptedGateway(accept);
  await using open = openResilient(gateway.url);
  const late = (n: number) =>
    open.client.openPosition(caller(n), marketOrder, { sendBeforeMs: Date.now() - 1 });
  for (let n = 0; n < 30; n += 1) expect(await late(n)).toMatchObject({ sent: false });
  expect(open.circuits).toEqual([]);
  expect(await open.client.openPosition(caller(1), marketOrder)).toMatchObject({ sent: true });
  expect(gateway.requests).toHaveLength(1);
});
