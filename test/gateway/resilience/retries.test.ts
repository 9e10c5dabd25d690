import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { OPEN_POSITIONS } from '../../../src/gateway/operations/get-open-positions.ts';
import { OPERATION_NAMES, OPERATIONS } from '../../../src/gateway/operations.ts';
import { OPERATION_CASES } from '../../operations/cases.ts';
import { eventually } from '../../support/eventually.ts';
import { answer, type Script, startScriptedGateway } from '../../support/scripted-gateway.ts';
import { wordFor } from '../open-client.ts';
import { caller, openResilient } from './open-resilient.ts';

const FAILURES: Readonly<Record<string, Script>> = {
  'a 429': (socket) => socket.write(answer(429, {})),
  'a 503': (socket) => socket.write(answer(503, {})),
  'a broken connection': (socket) => socket.resetAndDestroy(),
};

const positions = answer(200, OPEN_POSITIONS.toWire({ positions: [] }));

/** Sends the given answers in turn, and then repeats the last. */
function inTurn(...answers: readonly Buffer[]): Script {
  let next = 0;
  return (socket) => {
    socket.write(answers[Math.min(next, answers.length - 1)] as Buffer);
    next += 1;
  };
}

describe.each(Object.entries(FAILURES))('after %s', (_, fail) => {
  test.each(OPERATION_NAMES)(
    '%s is repeated twice if it is a read, and never otherwise',
    async (name) => {
      await using gateway = await startScriptedGateway(fail);
      await using open = openResilient(gateway.url);
      await open.runClockUntil(wordFor(OPERATION_CASES[name].call(open.client, caller(1))));
      await open.clock.advance(60_000);
      expect(gateway.requests).toHaveLength(OPERATIONS[name].effect === 'read' ? 3 : 1);
    },
  );
});

describe('Retry-After', () => {
  const busy = (seconds: number) => answer(429, {}, { 'retry-after': seconds });

  test('is waited for if it fits into the deadline', async () => {
    await using gateway = await startScriptedGateway(inTurn(busy(2), positions));
    await using open = openResilient(gateway.url);
    const read = open.client.read(caller(1), OPERATIONS.getOpenPositions, null);
    await eventually(() => expect(open.clock.pending).toBe(1));
    await open.clock.advance(1_999);
    expect(open.clock.pending).toBe(1);
    // The Retry-After is followed by a jitter of less than 100 ms.
    await open.clock.advance(100);
    expect(await read).toMatchObject({ rows: [] });
    expect(gateway.requests).toHaveLength(2);
  });

  test('is not waited for if it does not fit, so the answer is returned at once', async () => {
    await using gateway = await startScriptedGateway(inTurn(busy(60), positions));
    await using open = openResilient(gateway.url);
    const read = open.client.read(caller(1), OPERATIONS.getOpenPositions, null);
    await expect(read).rejects.toMatchObject({ kind: 'rate-limited', retryAfterSeconds: 60 });
    expect(gateway.requests).toHaveLength(1);
  });
});

test('if a retry finds no free connection, the first answer is returned with its Retry-After', async () => {
  const silent: Socket[] = [];
  let isSilent = false;
  await using gateway = await startScriptedGateway((socket) => {
    if (isSilent) silent.push(socket);
    else socket.write(answer(429, {}, { 'retry-after': 2 }));
  });
  await using open = openResilient(gateway.url, { connections: 8 });
  const read = open.client.read(caller(1), OPERATIONS.getCustomerId);
  await eventually(() => expect(open.clock.pending).toBe(1));
  isSilent = true;
  // Reads have four of the eight connections, and these eight reads get no answer.
  const others = [2, 3, 4, 5, 6, 7, 8, 9].map((account) =>
    open.client.read(caller(account), OPERATIONS.getCustomerId).catch(() => {}),
  );
  await expect(open.runClockUntil(read)).rejects.toMatchObject({
    kind: 'rate-limited',
    retryAfterSeconds: 2,
  });
  // The others end now, instead of at their deadlines.
  isSilent = false;
  for (const socket of silent) socket.destroy();
  await open.runClockUntil(Promise.all(others));
});

test('a retry without a connection is repeated too', async () => {
  const leaving = await startScriptedGateway(inTurn(answer(503, {})));
  await using open = openResilient(leaving.url);
  const read = open.client.read(caller(1), OPERATIONS.getOpenPositions, null);
  await eventually(() => expect(open.clock.pending).toBe(1));
  await leaving[Symbol.asyncDispose]();
  await open.clock.advance(100);
  await eventually(() => expect(open.clock.pending).toBe(1));
  expect(open.retries).toHaveLength(1);
  const port = Number(new URL(leaving.url).port);
  await using _next = await startScriptedGateway(inTurn(positions), { port });
  expect(await open.runClockUntil(read)).toMatchObject({ rows: [] });
});

test('all attempts share one deadline', async () => {
  let answered = 0;
  await using gateway = await startScriptedGateway((socket) => {
    answered += 1;
    if (answered === 1) socket.write(answer(429, {}, { 'retry-after': 40 }));
  });
  await using open = openResilient(gateway.url, { timeoutMs: 40_300 });
  const read = open.client.read(caller(1), OPERATIONS.getCustomerId);
  await eventually(() => expect(open.clock.pending).toBe(1));
  await open.clock.advance(40_100);
  // A jitter of 50 ms follows the Retry-After. So 250 of the 40,300 ms are left for the silent second attempt.
  const error = await read.catch((reason) => reason);
  expect(error.kind).toBe('timeout');
  expect(error.cause.message).toBe('no whole answer within 250 ms');
  expect(gateway.requests).toHaveLength(2);
});

test('a read is repeated twice if no connection is accepted', async () => {
  const gateway = await startScriptedGateway(inTurn(positions));
  await gateway[Symbol.asyncDispose]();
  await using open = openResilient(gateway.url);
  const read = wordFor(OPERATION_CASES.getOpenPositions.call(open.client, caller(1)));
  expect(await open.runClockUntil(read)).toBe('unavailable');
  expect(open.retries).toHaveLength(2);
});

test('retries are at most a tenth of the calls and ten more, even if no breaker opens', async () => {
  await using gateway = await startScriptedGateway(inTurn(answer(503, {})));
  await using open = openResilient(gateway.url);
  /** Reads by a single account, which opens no breaker, and returns the number of retries. */
  const retriesOf = async (reads: number) => {
    const before = open.retries.length;
    for (let count = 0; count < reads; count += 1) {
      const read = open.client.read(caller(1), OPERATIONS.getOpenPositions, null);
      await open.runClockUntil(read.catch(() => {}));
    }
    return open.retries.length - before;
  };
  expect(await retriesOf(200)).toBeLessThanOrEqual(200 / 10 + 10);
  expect(await retriesOf(100)).toBeLessThanOrEqual(100 / 10);
  expect(open.circuitChanges).toEqual([]);
});
