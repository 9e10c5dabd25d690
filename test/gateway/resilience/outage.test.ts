import { describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../../src/gateway/operations.ts';
import { loginNamed } from '../../support/accounts.ts';
import { answer, type Script, startScriptedGateway } from '../../support/scripted-gateway.ts';
import { limitOrder, marketOrder, wordFor } from '../open-client.ts';
import { caller, openResilient } from './open-resilient.ts';

const down: Script = (socket) => socket.write(answer(503, {}));
const positions: Script = (socket) => socket.write(answer(200, { positions: [] }));

type Open = ReturnType<typeof openResilient>;

/** Runs one read of op 12 by the n-th account, and returns its outcome. */
const read = ({ client }: Open, index: number) =>
  wordFor(client.read(caller(index), OPERATIONS.getOpenPositions, null));

async function readMany(open: Open, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await open.hurry(read(open, index));
}

describe('while the gateway fails for every call', () => {
  test('retries add at most a tenth of calls, and an open breaker sends a probe every two seconds until one succeeds', async () => {
    let isDown = true;
    await using gateway = await startScriptedGateway((socket, request) =>
      (isDown ? down : positions)(socket, request),
    );
    await using open = openResilient(gateway.url);
    const reads = Array.from({ length: 300 }, (_, index) => read(open, index));
    expect(new Set(await open.hurry(Promise.all(reads)))).toEqual(new Set(['unavailable']));
    expect(gateway.requests.length / 300).toBeLessThanOrEqual(1.1);
    expect(open.resilience.degradedReason()).toBe('gateway failing: getOpenPositions (5xx)');
    const callsBefore = gateway.requests.length;
    for (let second = 0; second < 30; second += 1) {
      await open.clock.advance(1_000);
      await open.hurry(Promise.all([1, 2, 3].map((index) => read(open, index))));
    }
    expect(gateway.requests.length - callsBefore).toBe(15);

    isDown = false;
    const ends: unknown[] = [];
    for (let second = 0; second < 2; second += 1) {
      await open.clock.advance(1_000);
      ends.push(await read(open, 1));
    }
    expect(ends.at(-1)).toBe('answer');
    expect(open.resilience.degradedReason()).toBeNull();
    expect(open.circuits).toEqual(['getOpenPositions open', 'getOpenPositions closed']);
  });

  test.each([401, 403])(
    'a probe that is answered %s does not close the breaker',
    async (status) => {
      let isDown = true;
      await using gateway = await startScriptedGateway((socket, request) =>
        isDown ? down(socket, request) : socket.write(answer(status, {})),
      );
      await using open = openResilient(gateway.url);
      await readMany(open, 30);
      isDown = false;
      await open.clock.advance(5_000);
      expect(await read(open, 1)).toBe(status === 401 ? 'unauthenticated' : 'forbidden');
      expect(open.circuits).toEqual(['getOpenPositions open']);
      expect(open.resilience.degradedReason()).toBe('gateway failing: getOpenPositions (5xx)');
    },
  );

  test('a gateway that refuses connections opens the breakers of reads and orders, and the next order passes once it is back', async () => {
    const closed = await startScriptedGateway(down);
    await closed[Symbol.asyncDispose]();
    await using open = openResilient(closed.url);
    await readMany(open, 12);
    const order = (index: number) =>
      open.client.order(caller(index), OPERATIONS.openPosition, marketOrder);
    for (let index = 0; index < 6; index += 1) {
      expect(await order(index)).toMatchObject({ sent: false });
    }
    const reason = 'gateway failing: getOpenPositions (ECONNREFUSED), orders (ECONNREFUSED)';
    expect(open.circuits).toEqual(['getOpenPositions open', 'orders open']);
    expect(open.resilience.degradedReason()).toBe(reason);
    const accept: Script = (socket) => socket.write(answer(200, { success: true, orderId: '1' }));
    await using gateway = await startScriptedGateway(accept, { port: closed.port });
    expect(await order(1)).toMatchObject({ sent: false });
    await open.clock.advance(5_000);
    expect(await order(1)).toMatchObject({ status: 200 });
    expect(gateway.requests).toHaveLength(1);
    expect(open.circuits).toEqual(['getOpenPositions open', 'orders open', 'orders closed']);
  });
});

describe('no breaker opens over', () => {
  test.each([400, 401, 403, 404, 429])('answers of %s to many accounts', async (status) => {
    await using gateway = await startScriptedGateway((socket) =>
      socket.write(answer(status, {}, { 'retry-after': 60 })),
    );
    await using open = openResilient(gateway.url);
    await readMany(open, 50);
    expect(gateway.requests).toHaveLength(50);
    expect(open.circuits).toEqual([]);
  });

  test('orders that expire', async () => {
    await using gateway = await startScriptedGateway(positions);
    await using open = openResilient(gateway.url);
    for (let index = 0; index < 30; index += 1) {
      const late = { sendBeforeMs: Date.now() - 1 };
      const placed = await open.client.order(
        caller(index),
        OPERATIONS.openPosition,
        marketOrder,
        late,
      );
      expect(placed).toMatchObject({ sent: false });
    }
    expect(gateway.requests).toEqual([]);
    expect(open.circuits).toEqual([]);
  });

  test('failed calls without a proved account', async () => {
    await using gateway = await startScriptedGateway(down);
    await using open = openResilient(gateway.url);
    for (let site = 1; site <= 30; site += 1) {
      const client = { address: `2001:db8:${site}::1`, userAgent: null };
      const device = { deviceId: 'd' };
      await wordFor(open.client.write({ token: null, client }, OPERATIONS.registerDevice, device));
    }
    expect(gateway.requests).toHaveLength(30);
    expect(open.circuits).toEqual([]);
  });
});

describe('a sign-in', () => {
  const bad = 'stumbles@example.com';
  const signIn = ({ client }: Open, site: number, email = 'user@example.com') => {
    const by = { token: null, client: { address: `192.0.2.${site}`, userAgent: null } };
    return wordFor(client.write(by, OPERATIONS.login, { email: email, password: 'password' }));
  };
  test('is held back if the gateway is unreachable, but not over failures of other users', async () => {
    const gateway = await startScriptedGateway((socket, { body }) =>
      socket.write(body.includes(bad) ? answer(500, {}) : answer(200, { access_token: 'token' })),
    );
    await using open = openResilient(gateway.url);
    for (let n = 0; n < 40; n += 1) await signIn(open, 1 + (n % 4), bad);
    expect(await signIn(open, 10)).toBe('granted');
    expect(open.circuits).toEqual([]);
    await gateway[Symbol.asyncDispose]();
    for (let n = 0; n < 60; n += 1) await signIn(open, n);
    expect(open.circuits).toEqual(['login open']);
  });
});

describe('among the operations of one area', () => {
  const snapshot = { login: '1001', group: 'g' };
  const dead = new Set<string>();
  const script: Script = (socket, { path }) =>
    [...dead].some((part) => path.includes(part))
      ? socket.write(answer(500, {}))
      : socket.write(
          answer(
            200,
            path.includes('session') ? snapshot : path.includes('tickers') ? [] : { positions: [] },
          ),
        );
  const session = ({ client }: Open, index: number) =>
    wordFor(
      client.read(caller(index), OPERATIONS.getSession, {
        login: loginNamed('1001'),
        onOwned() {},
      }),
    );

  test('only the failing operation is held back', async () => {
    await using gateway = await startScriptedGateway(script);
    await using open = openResilient(gateway.url);
    dead.clear();
    dead.add('session');
    for (let index = 0; index < 30; index += 1) await open.hurry(session(open, index));
    expect(open.circuits).toEqual(['getSession open']);
    expect(await open.hurry(read(open, 1))).toBe('answer');
    expect(open.resilience.isOpen('reads')).toBe(true);
    dead.clear();
    await open.clock.advance(5_000);
    expect(await session(open, 1)).toBe('answer');
    expect(open.circuits).toEqual(['getSession open', 'getSession closed']);
    expect(open.resilience.isOpen('reads')).toBe(false);
  });

  test('two failing operations cause one warning, which ends when both succeed again', async () => {
    await using gateway = await startScriptedGateway(script);
    await using open = openResilient(gateway.url);
    for (const each of ['session', 'positions']) dead.add(each);
    for (let index = 0; index < 30; index += 1)
      await open.hurry(Promise.all([session(open, index), read(open, index)]));
    const reason = () => open.resilience.degradedReason();
    expect(open.circuits).toHaveLength(1);
    expect(reason()).toMatch(/^gateway failing: (?=.*getSession)(?=.*getOpenPositions)/);
    dead.delete('session');
    await open.clock.advance(2_000);
    expect(await session(open, 1)).toBe('answer');
    expect([open.circuits.length, reason()]).toEqual([
      1,
      'gateway failing: getOpenPositions (5xx)',
    ]);
    dead.clear();
    expect(await read(open, 1)).toBe('answer');
    expect([open.circuits.at(-1), reason()]).toEqual(['getOpenPositions closed', null]);
  });
});

describe('orders that are answered by a server other than the gateway', () => {
  const page = answer(200, '<!doctype html>', { 'content-type': 'text/html' });
  const moved = answer(302, '', { location: '/login' });

  test.each([
    ['a page', page],
    ['a page with the content type of JSON', answer(200, ' <!doctype html>')],
    ['nothing', answer(200, '')],
    ['a redirect', moved],
    ['not HTTP', Buffer.from('SSH-2.0-OpenSSH_9.9\r\n')],
  ])('are held back after %s, until the gateway answers one', async (_, bytes) => {
    let reply = bytes;
    await using gateway = await startScriptedGateway((socket) => socket.write(reply));
    await using open = openResilient(gateway.url);
    const place = (index: number) =>
      open.client.order(caller(index), OPERATIONS.openPosition, marketOrder);
    for (let index = 0; index < 5; index += 1) expect((await place(index)).sent).toBe(true);
    expect(open.circuits).toEqual(['orders open']);
    expect((await place(5)).sent).toBe(false);
    await open.clock.advance(5_000);
    // One probe is sent, but its answer does not close the breaker.
    expect([(await place(6)).sent, (await place(7)).sent]).toEqual([true, false]);
    reply = answer(200, { success: false, err: 'NO_MONEY' });
    await open.clock.advance(5_000);
    expect([(await place(8)).sent, (await place(9)).sent]).toEqual([true, true]);
    expect(open.circuits).toEqual(['orders open', 'orders closed']);
  });

  test.each([
    ['of one account', () => 0, page],
    ['of two accounts', (index: number) => index % 2, page],
    ['answered with an empty JSON object', (index: number) => index, answer(200, {})],
    ['that failed', (index: number) => index, answer(500, '<!doctype html>')],
    ['that were refused', (index: number) => index, answer(404, '<!doctype html>')],
  ])('do not open the breaker: %s', async (_, callerOf, bytes) => {
    await using gateway = await startScriptedGateway((socket) => socket.write(bytes));
    await using open = openResilient(gateway.url);
    for (let index = 0; index < 12; index += 1) {
      await open.client.order(caller(callerOf(index)), OPERATIONS.openPosition, marketOrder);
    }
    expect(gateway.requests).toHaveLength(12);
    expect(open.circuits).toEqual([]);
  });
});

describe('orders that a gateway receives and does not answer', () => {
  const accepted = answer(200, { success: true, orderId: '1' });
  const SECONDS = 100;

  /** Places three orders a second for twelve accounts, and counts their outcomes while `end` replaces the answers. */
  async function outage(end: Script, { withReads }: { readonly withReads: boolean }) {
    let isDown = false;
    await using gateway = await startScriptedGateway((socket, request) => {
      if (isDown) end(socket, request);
      else if (request.method === 'GET') positions(socket, request);
      else socket.write(accepted);
    });
    await using open = openResilient(gateway.url);
    const counts = { answered: 0, unknown: 0, unsent: 0 };
    let index = 0;
    const second = async () => {
      const reads = withReads ? Array.from({ length: 12 }, (_, at) => read(open, at)) : [];
      await open.hurry(Promise.all(reads));
      for (let n = 0; n < 3; n += 1) {
        index += 1;
        const by = caller(index % 12);
        const order =
          index % 2 === 0
            ? open.client.order(by, OPERATIONS.openPosition, marketOrder)
            : open.client.order(by, OPERATIONS.placeLimitOrder, limitOrder);
        const placed = await order;
        if (!placed.sent) counts.unsent += 1;
        else counts[placed.answered ? 'answered' : 'unknown'] += 1;
      }
      await open.clock.advance(1_000);
    };
    for (let n = 0; n < 12; n += 1) await second();
    expect(counts).toEqual({ answered: 36, unknown: 0, unsent: 0 });
    isDown = true;
    const before = gateway.requests.filter(({ method }) => method !== 'GET').length;
    for (let n = 0; n < SECONDS; n += 1) await second();
    const during = { ...counts };
    const sent = gateway.requests.filter(({ method }) => method !== 'GET').length - before;
    isDown = false;
    let secondsUntilTaken = 0;
    for (; counts.answered === 36 && secondsUntilTaken < 60; secondsUntilTaken += 1) await second();
    return { during, sent, secondsUntilTaken, circuits: open.circuits };
  }

  const reset: Script = (socket) => socket.resetAndDestroy();

  test('are held back with the reads, and few end unknown', async () => {
    const { during, sent, secondsUntilTaken, circuits } = await outage(reset, { withReads: true });
    expect(during.unknown).toBeLessThanOrEqual(12 + SECONDS / 5);
    expect(during.unknown + during.unsent).toBe(3 * SECONDS);
    // The gateway received exactly the unknown orders, and none that was reported as unsent.
    expect(sent).toBe(during.unknown);
    expect(secondsUntilTaken).toBeLessThanOrEqual(6);
    expect(circuits.filter((each) => each.startsWith('orders'))).toEqual([
      'orders open',
      'orders closed',
    ]);
  });

  test('are held back without reads too, except one in five seconds', async () => {
    const { during, sent, secondsUntilTaken } = await outage(reset, { withReads: false });
    expect(during.unknown).toBeGreaterThanOrEqual(5);
    expect(during.unknown).toBeLessThanOrEqual(5 + SECONDS / 5);
    expect(sent).toBe(during.unknown);
    expect(secondsUntilTaken).toBeLessThanOrEqual(6);
  });

  test.each([
    ['a page of a proxy', answer(502, '<!doctype html>', { 'content-type': 'text/html' })],
    ['a page of a proxy that is JSON', answer(503, { message: 'no healthy upstream' })],
    ['a 404 without a body', answer(404, '')],
  ])('stay held back after %s', async (_, foreign) => {
    let end = reset;
    await using gateway = await startScriptedGateway((socket, request) => end(socket, request));
    await using open = openResilient(gateway.url);
    const place = (index: number) =>
      open.client.order(caller(index), OPERATIONS.openPosition, marketOrder);
    for (let index = 0; index < 4; index += 1) await place(index);
    await open.clock.advance(2_000);
    expect([(await place(4)).sent, (await place(5)).sent]).toEqual([true, false]);
    end = (socket) => socket.write(foreign);
    await open.clock.advance(5_000);
    expect([(await place(6)).sent, (await place(7)).sent]).toEqual([true, false]);
    end = (socket) => socket.write(answer(500, { success: false, err: 'DOWN' }));
    await open.clock.advance(5_000);
    expect([(await place(8)).sent, (await place(9)).sent]).toEqual([true, true]);
    expect(open.circuits).toEqual(['orders open', 'orders closed']);
  });

  test('are sent while only reads get no answers, because orders are answered', async () => {
    await using gateway = await startScriptedGateway((socket, request) =>
      request.method === 'GET' ? reset(socket, request) : socket.write(accepted),
    );
    await using open = openResilient(gateway.url);
    const place = (index: number) =>
      open.client.order(caller(index), OPERATIONS.openPosition, marketOrder);
    await readMany(open, 12);
    for (let index = 0; index < 20; index += 1) {
      await open.hurry(read(open, index));
      expect(await place(index)).toMatchObject({ status: 200 });
      await open.clock.advance(1_000);
    }
  });

  test('leave the next probe to an account that has not failed, or to a failed account if it calls alone', async () => {
    let isDown = true;
    await using gateway = await startScriptedGateway((socket, request) => {
      if (isDown || request.headers.authorization === 'Bearer token 1') reset(socket, request);
      else socket.write(accepted);
    });
    await using open = openResilient(gateway.url);
    const isSent = async (index: number) =>
      (await open.client.order(caller(index), OPERATIONS.openPosition, marketOrder)).sent;
    for (let index = 0; index < 3; index += 1) await isSent(index);
    await open.clock.advance(2_000);
    expect(await isSent(0)).toBe(true);
    await open.clock.advance(5_000);
    // Accounts that have failed are held back; the next other account probes.
    expect([await isSent(0), await isSent(1), await isSent(2)]).toEqual([false, false, false]);
    expect([await isSent(7), await isSent(8)]).toEqual([true, false]);
    await open.clock.advance(7_999);
    expect(await isSent(7)).toBe(false);
    await open.clock.advance(1);
    // A failed account may probe if no other account has called. The next probe is left to the others again.
    expect(await isSent(1)).toBe(true);
    isDown = false;
    await open.clock.advance(5_000);
    expect([await isSent(1), await isSent(2), await isSent(1)]).toEqual([false, true, true]);
    expect(open.circuits).toEqual(['orders open', 'orders closed']);
  });
});
