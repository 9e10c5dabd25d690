import { once } from 'node:events';
import { request } from 'node:http';
import { createGunzip } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openSandbox } from './sandbox-client.ts';

const POSITIONS = '/trading/positions';
const ORDER = { symbol: 'AAPL', direction: 'buy', type: 'unit', amount: 1 };
const DEMO = 'demo@example.com';

describe('a status fault', () => {
  test.each([
    ['getSession', '/trading/session/700001', { message: expect.any(String) }],
    [
      'getOpenPositions',
      POSITIONS,
      { error: 'UNAVAILABLE', message: expect.any(String), details: {} },
    ],
  ] as const)('of %s has the shape of its own errors', async (operation, path, shape) => {
    await using place = await openSandbox();
    place.sandbox.fail({ operation, kind: 'status', status: 503 });
    const answer = await place.as(DEMO).get(path);
    expect(answer.status).toBe(503);
    expect(answer.body).toStrictEqual(shape);
  });

  test('can have a body and headers of its own, for so many calls and no more', async () => {
    await using place = await openSandbox();
    const demo = place.as(DEMO);
    place.sandbox.fail({
      operation: 'getOpenPositions',
      kind: 'status',
      status: 429,
      body: { error: 'SLOW_DOWN' },
      headers: { 'retry-after': '7' },
      times: 2,
      skip: 1,
    });
    const answers = [];
    for (let i = 0; i < 4; i += 1) answers.push(await demo.get(POSITIONS));
    expect(answers.map(({ status }) => status)).toEqual([200, 429, 429, 200]);
    expect(answers[1]?.body).toEqual({ error: 'SLOW_DOWN' });
    expect(answers[1]?.headers.get('retry-after')).toBe('7');
  });

  test('ends by itself after the time that it was set for', async () => {
    await using place = await openSandbox();
    const demo = place.as(DEMO);
    place.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', forMs: 5_000 });
    await place.clock.advance(4_999);
    expect((await demo.get(POSITIONS)).status).toBe(500);
    expect(place.sandbox.faults()).toHaveLength(1);
    await place.clock.advance(1);
    expect((await demo.get(POSITIONS)).status).toBe(200);
    expect(place.sandbox.faults()).toEqual([]);
  });

  test('applies to one login, or any operation, or until it is cleared', async () => {
    await using place = await openSandbox();
    const [demo, pro] = [place.as(DEMO), place.as('pro@example.com')];
    place.sandbox.fail({ operation: '*', kind: 'status', status: 500, login: 700001 });
    for (const path of [POSITIONS, '/payments/client/customer-id']) {
      expect((await demo.get(path)).status).toBe(500);
      expect((await pro.get(path)).status).toBe(200);
    }
    place.sandbox.clearFaults();
    expect((await demo.get(POSITIONS)).status).toBe(200);
  });
});

describe('the outcome of an order', () => {
  test.each([
    ['reset-before', {}, 0],
    ['reset-after', {}, 1],
    ['cut', {}, 1],
    ['cut', { apply: false }, 0],
    ['cut-head', {}, 1],
  ] as const)('%s %j: no answer, applied %i times', async (kind, extra, applied) => {
    await using place = await openSandbox();
    const demo = place.as(DEMO);
    place.sandbox.fail({ operation: 'openPosition', kind, ...extra });
    await expect(demo.post(POSITIONS, ORDER)).rejects.toThrow();
    expect(place.sandbox.orders()).toHaveLength(applied);
    expect(place.sandbox.calls('openPosition')).toBe(1);
  });

  test.each([
    ['status', { status: 503 }, 503, 0],
    ['status', { status: 503, apply: true }, 503, 1],
    ['garbage', {}, 200, 1],
    ['empty', {}, 200, 1],
    ['empty', { apply: false, status: 201 }, 201, 0],
    ['html', {}, 200, 0],
    ['redirect', {}, 302, 0],
    ['redirect', { status: 307 }, 307, 0],
    ['revoke', {}, 401, 0],
    ['oversize', { bytes: 100_000 }, 200, 1],
    ['gzip-bomb', { bytes: 2_000_000 }, 200, 1],
  ] as const)('%s %j: status %i, applied %i times', async (kind, extra, status, applied) => {
    await using place = await openSandbox();
    place.sandbox.fail({ operation: 'openPosition', kind, ...extra });
    const answer = await place.as(DEMO).post(POSITIONS, ORDER);
    expect(answer.status).toBe(status);
    expect(place.sandbox.orders()).toHaveLength(applied);
  });
});

describe('the answer', () => {
  test('of garbage is no JSON, of html no JSON either, of empty nothing', async () => {
    await using place = await openSandbox();
    const demo = place.as(DEMO);
    for (const kind of ['garbage', 'html', 'empty'] as const) {
      place.sandbox.fail({ operation: 'getOpenPositions', kind, times: 1 });
      const answer = await demo.get(POSITIONS);
      expect(answer.status).toBe(200);
      expect(() => answer.body).toThrow(SyntaxError);
      const type = kind === 'html' ? 'text/html' : 'application/json; charset=utf-8';
      expect(answer.headers.get('content-type')).toBe(type);
    }
  });

  test('of a redirect leads to a place where followers are noticed', async () => {
    await using place = await openSandbox();
    place.sandbox.fail({ operation: 'getOpenPositions', kind: 'redirect' });
    const answer = await place.as(DEMO).get(POSITIONS);
    expect(answer.headers.get('location')).toBe('/sandbox/redirected');
    await place.anonymous.get('/sandbox/redirected');
    expect(place.sandbox.requests().map(({ path }) => path)).toEqual([
      POSITIONS,
      '/sandbox/redirected',
    ]);
  });

  test('of revoke is a 401 that stays', async () => {
    await using place = await openSandbox();
    const demo = place.as(DEMO);
    place.sandbox.fail({ operation: 'getOpenPositions', kind: 'revoke', times: 1 });
    expect((await demo.get(POSITIONS)).status).toBe(401);
    expect((await demo.get('/payments/client/customer-id')).status).toBe(401);
  });

  test('of delay is the right one, later', async () => {
    await using place = await openSandbox();
    place.sandbox.fail({ operation: 'getOpenPositions', kind: 'delay', delayMs: 500 });
    let answered = false;
    const answer = place.as(DEMO).get(POSITIONS);
    answer.then(() => {
      answered = true;
    });
    await expect.poll(() => place.clock.pending).toBe(1);
    expect(answered).toBe(false);
    await place.clock.advance(500);
    expect((await answer).status).toBe(200);
  });

  test('of drip comes byte by byte', async () => {
    await using place = await openSandbox();
    place.sandbox.fail({ operation: 'getCustomerId', kind: 'drip', delayMs: 1_000 });
    const answer = place.as(DEMO).get('/payments/client/customer-id');
    await expect.poll(() => place.clock.pending).toBe(1);
    await place.clock.advance(60_000);
    expect((await answer).body).toEqual({ customerId: 'cus_700001' });
  });

  test('of hang never comes, and closing the sandbox ends the wait', async () => {
    await using place = await openSandbox();
    place.sandbox.fail({ operation: 'openPosition', kind: 'hang' });
    const refused = expect(place.as(DEMO).post(POSITIONS, ORDER)).rejects.toThrow();
    await expect.poll(() => place.sandbox.calls('openPosition')).toBe(1);
    await place.sandbox.close();
    await refused;
  });

  test('of a gzip bomb is small to send and large to unpack', async () => {
    await using place = await openSandbox();
    const demo = place.as(DEMO);
    place.sandbox.fail({ operation: 'getOpenPositions', kind: 'gzip-bomb', bytes: 5_000_000 });
    const sent = request(place.sandbox.url + POSITIONS, {
      headers: { authorization: `Bearer ${demo.token}`, 'accept-encoding': 'gzip' },
    }).end();
    const [response] = await once(sent, 'response');
    expect(Number(response.headers['content-length'])).toBeLessThan(50_000);
    let unpacked = 0;
    for await (const chunk of response.pipe(createGunzip())) unpacked += chunk.length;
    expect(unpacked).toBeGreaterThan(5_000_000);
  });

  test('of an endless size stops when the client hangs up', async () => {
    await using place = await openSandbox();
    const demo = place.as(DEMO);
    place.sandbox.fail({ operation: 'getOpenPositions', kind: 'oversize', bytes: 1e12, times: 1 });
    const sent = request(place.sandbox.url + POSITIONS, {
      headers: { authorization: `Bearer ${demo.token}` },
    }).end();
    const [response] = await once(sent, 'response');
    let bytes = 0;
    for await (const chunk of response) {
      bytes += chunk.length;
      if (bytes > 1_000_000) break;
    }
    expect((await demo.get(POSITIONS)).status).toBe(200);
  });
});
