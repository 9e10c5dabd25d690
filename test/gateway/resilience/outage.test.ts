import { describe, expect, test } from 'vitest';
import { read } from '../../../src/gateway/define-operation.ts';
import { OPEN_POSITIONS } from '../../../src/gateway/operations/get-open-positions.ts';
import { GRANT } from '../../../src/gateway/operations/login.ts';
import { SUBMITTED } from '../../../src/gateway/operations/submitted.ts';
import type { OperationName } from '../../../src/gateway/operations.ts';
import { OPERATIONS } from '../../../src/gateway/operations.ts';
import { loginNamed } from '../../support/accounts.ts';
import { accepted, pathOf } from '../../support/ask-gateway.ts';
import { answer, type Script, startScriptedGateway } from '../../support/scripted-gateway.ts';
import { limitOrder, marketOrder, wordFor } from '../open-client.ts';
import { sessionWith } from '../wire/rows.ts';
import { caller, openResilient } from './open-resilient.ts';

const down: Script = (socket) => socket.write(answer(503, {}));
const positions: Script = (socket) =>
  socket.write(answer(200, OPEN_POSITIONS.toWire({ positions: [] })));
const reset: Script = (socket) => socket.resetAndDestroy();

type TestClient = ReturnType<typeof openResilient>;

/** Reads the open positions of one account, and returns the outcome in a word. */
const readPositions = ({ client }: TestClient, account: number) =>
  wordFor(client.read(caller(account), OPERATIONS.getOpenPositions, null));

/** Places an order of one account. */
const place = ({ client }: TestClient, account: number, options?: { sendBeforeMs: number }) =>
  client.order(caller(account), OPERATIONS.openPosition, marketOrder, options);

/** Places an order of one account, and returns whether it was sent. */
const trySend = async (open: TestClient, account: number) => (await place(open, account)).sent;

/** Reads once for each of `count` accounts. */
async function readMany(open: TestClient, count: number): Promise<void> {
  for (let account = 0; account < count; account += 1) {
    await open.runClockUntil(readPositions(open, account));
  }
}

describe('while the gateway fails for every call', () => {
  test('few calls reach the gateway: at most a tenth more by retries, then one probe every two seconds', async () => {
    let isDown = true;
    await using gateway = await startScriptedGateway((socket, request) =>
      (isDown ? down : positions)(socket, request),
    );
    await using open = openResilient(gateway.url);
    const reads = Array.from({ length: 300 }, (_, account) => readPositions(open, account));
    const outcomes = await open.runClockUntil(Promise.all(reads));
    expect(new Set(outcomes)).toEqual(new Set(['unavailable']));
    expect(gateway.requests.length / reads.length).toBeLessThanOrEqual(1.1);
    expect(open.resilience.degradedReason()).toBe('gateway failing: getOpenPositions (5xx)');
    const callsBefore = gateway.requests.length;
    for (let second = 0; second < 30; second += 1) {
      await open.clock.advance(1_000);
      await open.runClockUntil(
        Promise.all([1, 2, 3].map((account) => readPositions(open, account))),
      );
    }
    expect(gateway.requests.length - callsBefore).toBe(30 / 2);

    // The first probe that succeeds closes the breaker.
    isDown = false;
    await open.clock.advance(1_000);
    await readPositions(open, 1);
    await open.clock.advance(1_000);
    expect(await readPositions(open, 1)).toBe('answer');
    expect(open.resilience.degradedReason()).toBeNull();
    expect(open.circuitChanges).toEqual(['getOpenPositions open', 'getOpenPositions closed']);
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
      expect(await readPositions(open, 1)).toBe(status === 401 ? 'unauthenticated' : 'forbidden');
      expect(open.circuitChanges).toEqual(['getOpenPositions open']);
      expect(open.resilience.degradedReason()).toBe('gateway failing: getOpenPositions (5xx)');
    },
  );

  test('refused connections open the breakers of reads and orders, and an order passes once the gateway is back', async () => {
    // Nothing listens on the port of a stopped gateway, so connections to it are refused.
    const stopped = await startScriptedGateway(down);
    await stopped[Symbol.asyncDispose]();
    await using open = openResilient(stopped.url);
    await readMany(open, 12);
    for (let account = 0; account < 6; account += 1)
      expect(await trySend(open, account)).toBe(false);
    const reason = 'gateway failing: getOpenPositions (ECONNREFUSED), orders (ECONNREFUSED)';
    expect(open.circuitChanges).toEqual(['getOpenPositions open', 'orders open']);
    expect(open.resilience.degradedReason()).toBe(reason);
    const accept: Script = (socket) => socket.write(answer(200, accepted()));
    await using gateway = await startScriptedGateway(accept, { port: stopped.port });
    expect(await trySend(open, 1)).toBe(false);
    await open.clock.advance(5_000);
    expect(await place(open, 1)).toMatchObject({ status: 200 });
    expect(gateway.requests).toHaveLength(1);
    expect(open.circuitChanges).toEqual(['getOpenPositions open', 'orders open', 'orders closed']);
  });
});

describe('while the gateway answers 429', () => {
  const limited: Script = (socket) => socket.write(answer(429, {}));

  test('to most accounts, that is reported once, and ends a minute after the last window of refusals', async () => {
    let isLimited = true;
    await using gateway = await startScriptedGateway((socket, request) =>
      (isLimited ? limited : positions)(socket, request),
    );
    await using open = openResilient(gateway.url);
    await readMany(open, 12);
    for (let account = 0; account < 12; account += 1) await place(open, account);
    expect(open.quotas).toEqual(['getOpenPositions']);
    const reason = 'gateway failing: getOpenPositions (429), orders (429)';
    expect(open.resilience.degradedReason()).toBe(reason);
    // Clients back off: one call in a window is enough to go on.
    for (let minute = 0; minute < 3; minute += 1) {
      await open.clock.advance(50_000);
      await open.runClockUntil(readPositions(open, 1));
    }
    expect(open.resilience.degradedReason()).toBe('gateway failing: getOpenPositions (429)');
    isLimited = false;
    // The quota lets a few calls pass in each minute.
    await open.clock.advance(20_000);
    expect(await readPositions(open, 1)).toBe('answer');
    await open.clock.advance(40_000);
    expect(open.resilience.degradedReason()).toBeNull();
    expect(open.quotas).toHaveLength(1);
  });

  test('to two accounts, to one of many accounts, or to a third of the calls, nothing is reported', async () => {
    let refuses = (_account: number) => false;
    await using gateway = await startScriptedGateway((socket, request) => {
      const [, account] = request.headers.authorization?.split(' token ') ?? [];
      (refuses(Number(account)) ? limited : positions)(socket, request);
    });
    await using open = openResilient(gateway.url);
    for (const each of [(n: number) => n < 2, (n: number) => n === 7, (n: number) => n % 3 === 0]) {
      refuses = each;
      for (let round = 0; round < 4; round += 1) await readMany(open, 8);
      await open.clock.advance(10_000);
    }
    for (let round = 0; round < 10; round += 1) await open.runClockUntil(readPositions(open, 0));
    expect(open.quotas).toEqual([]);
    expect(open.resilience.degradedReason()).toBeNull();
  });
});

describe('no breaker opens because of', () => {
  test.each([400, 401, 403, 404, 429])('answers of %s to many accounts', async (status) => {
    await using gateway = await startScriptedGateway((socket) =>
      socket.write(answer(status, {}, { 'retry-after': 60 })),
    );
    await using open = openResilient(gateway.url);
    await readMany(open, 50);
    expect(gateway.requests).toHaveLength(50);
    expect(open.circuitChanges).toEqual([]);
  });

  test.each([401, 403])(
    '%s to calls with tokens; a service that refuses our credentials so is failing',
    async (status) => {
      await using gateway = await startScriptedGateway((socket) =>
        socket.write(answer(status, {})),
      );
      for (const isAnonymous of [false, true]) {
        await using open = openResilient(gateway.url);
        const getRates = read({
          name: 'getRates',
          number: 16,
          proves: 'nothing',
          isAnonymous,
          calls: { all: { method: 'GET', path: '/rates', answer: { kind: 'any' } } },
          run: (calls) => calls.send('all'),
        });
        const words = new Set<string>();
        for (let account = 0; account < 30; account += 1) {
          words.add(await wordFor(open.client.read(caller(account), getRates)));
        }
        const refused = status === 401 ? 'unauthenticated' : 'forbidden';
        expect([...words]).toEqual([isAnonymous ? 'unavailable' : refused]);
        expect(open.circuitChanges).toEqual(isAnonymous ? ['getRates open'] : []);
      }
    },
  );

  test('orders that expire', async () => {
    await using gateway = await startScriptedGateway(positions);
    await using open = openResilient(gateway.url);
    for (let account = 0; account < 30; account += 1) {
      const expired = { sendBeforeMs: Date.now() - 1 };
      expect(await place(open, account, expired)).toMatchObject({ sent: false });
    }
    expect(gateway.requests).toEqual([]);
    expect(open.circuitChanges).toEqual([]);
  });
});

describe('a sign-in', () => {
  const failingEmail = 'fails@example.com';
  /** Signs in from the address 192.0.2.`host`. */
  const signIn = ({ client }: TestClient, host: number, email = 'user@example.com') => {
    const by = { token: null, sender: { address: `192.0.2.${host}`, userAgent: null } };
    return wordFor(client.write(by, OPERATIONS.login, { email, password: 'password' }));
  };
  test('is held back if the gateway is unreachable, but not because of failures of other users', async () => {
    const granted = answer(200, { [GRANT.names.accessToken]: 'token' });
    const gateway = await startScriptedGateway((socket, { body }) =>
      socket.write(body.includes(failingEmail) ? answer(500, {}) : granted),
    );
    await using open = openResilient(gateway.url);
    for (let round = 0; round < 10; round += 1) {
      for (const host of [1, 2, 3, 4]) await signIn(open, host, failingEmail);
    }
    expect(await signIn(open, 10)).toBe('granted');
    expect(open.circuitChanges).toEqual([]);
    await gateway[Symbol.asyncDispose]();
    for (let host = 0; host < 60; host += 1) await signIn(open, host);
    expect(open.circuitChanges).toEqual(['login open']);
  });
});

test('two failing operations of one area cause one warning, which ends when both succeed again', async () => {
  /** The operations that get a 500. */
  const failing = new Set<OperationName>(['getSession', 'getOpenPositions']);
  await using gateway = await startScriptedGateway((socket, request) => {
    const isList = request.path === pathOf('getOpenPositions');
    if (failing.has(isList ? 'getOpenPositions' : 'getSession')) socket.write(answer(500, {}));
    else if (isList) positions(socket, request);
    else socket.write(answer(200, sessionWith({ login: 1001 })));
  });
  await using open = openResilient(gateway.url);
  const readSession = (account: number) => {
    const question = { login: loginNamed('1001'), onOwned() {} };
    return wordFor(open.client.read(caller(account), OPERATIONS.getSession, question));
  };
  for (let account = 0; account < 30; account += 1) {
    await open.runClockUntil(Promise.all([readSession(account), readPositions(open, account)]));
  }
  const reason = () => open.resilience.degradedReason();
  // The second breaker opens without a warning, but is named in the reason.
  expect(open.circuitChanges).toHaveLength(1);
  expect(reason()).toMatch(/^gateway failing: (?=.*getSession)(?=.*getOpenPositions)/);
  failing.delete('getSession');
  await open.clock.advance(2_000);
  expect(await readSession(1)).toBe('answer');
  expect(open.circuitChanges).toHaveLength(1);
  expect(reason()).toBe('gateway failing: getOpenPositions (5xx)');
  failing.clear();
  expect(await readPositions(open, 1)).toBe('answer');
  expect(open.circuitChanges.at(-1)).toBe('getOpenPositions closed');
  expect(reason()).toBeNull();
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
  ])('are held back after %s, until the gateway answers an order', async (_, bytes) => {
    let reply = bytes;
    await using gateway = await startScriptedGateway((socket) => socket.write(reply));
    await using open = openResilient(gateway.url);
    for (let account = 0; account < 5; account += 1)
      expect(await trySend(open, account)).toBe(true);
    expect(open.circuitChanges).toEqual(['orders open']);
    expect(await trySend(open, 5)).toBe(false);
    await open.clock.advance(5_000);
    // One probe is sent, but its answer does not close the breaker.
    expect([await trySend(open, 6), await trySend(open, 7)]).toEqual([true, false]);
    reply = answer(200, SUBMITTED.toWire({ success: false, orderId: '', error: 'NO_MONEY' }));
    await open.clock.advance(5_000);
    // The gateway answers the next probe, so that the order after it is sent too.
    expect([await trySend(open, 8), await trySend(open, 9)]).toEqual([true, true]);
    expect(open.circuitChanges).toEqual(['orders open', 'orders closed']);
  });

  test.each([
    ['of one account', () => 0, page],
    ['of two accounts', (index: number) => index % 2, page],
    ['answered with an empty JSON object', (index: number) => index, answer(200, {})],
    ['answered with a 500', (index: number) => index, answer(500, '<!doctype html>')],
    ['answered with a 404', (index: number) => index, answer(404, '<!doctype html>')],
  ])('do not open the breaker if they are %s', async (_, accountOf, bytes) => {
    await using gateway = await startScriptedGateway((socket) => socket.write(bytes));
    await using open = openResilient(gateway.url);
    for (let index = 0; index < 12; index += 1) await place(open, accountOf(index));
    expect(gateway.requests).toHaveLength(12);
    expect(open.circuitChanges).toEqual([]);
  });
});

describe('orders that a gateway receives and does not answer', () => {
  const ACCEPTED = answer(200, accepted());
  const ACCOUNTS = 12;
  const ORDERS_A_SECOND = 3;
  const OUTAGE_SECONDS = 100;

  test('are held back, except for a probe every five seconds, until the gateway answers again', async () => {
    let isDown = false;
    await using gateway = await startScriptedGateway((socket, request) =>
      isDown ? reset(socket, request) : socket.write(ACCEPTED),
    );
    await using open = openResilient(gateway.url);
    const counts = { answered: 0, unknown: 0, unsent: 0 };
    let orders = 0;
    /** Places one order, market and limit orders by turns, and counts its outcome. */
    const placeOrder = async () => {
      orders += 1;
      const by = caller(orders % ACCOUNTS);
      const placed = await (orders % 2 === 0
        ? open.client.order(by, OPERATIONS.openPosition, marketOrder)
        : open.client.order(by, OPERATIONS.placeLimitOrder, limitOrder));
      if (!placed.sent) counts.unsent += 1;
      else counts[placed.answered ? 'answered' : 'unknown'] += 1;
    };
    const runSeconds = async (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) {
        for (let n = 0; n < ORDERS_A_SECOND; n += 1) await placeOrder();
        await open.clock.advance(1_000);
      }
    };
    await runSeconds(12);
    const answered = 12 * ORDERS_A_SECOND;
    expect(counts).toEqual({ answered, unknown: 0, unsent: 0 });
    isDown = true;
    await runSeconds(OUTAGE_SECONDS);
    // The breaker opens after five lost orders. Then at most one order is lost for each probe.
    const { unknown, unsent } = counts;
    expect(unknown).toBeGreaterThanOrEqual(5);
    expect(unknown).toBeLessThanOrEqual(5 + OUTAGE_SECONDS / 5);
    expect(unknown + unsent).toBe(OUTAGE_SECONDS * ORDERS_A_SECOND);
    // The gateway received exactly the unknown orders, and none that was reported as unsent.
    expect(gateway.requests).toHaveLength(answered + unknown);
    isDown = false;
    await runSeconds(6);
    expect(counts.answered).toBeGreaterThan(answered);
    expect(open.circuitChanges).toEqual(['orders open', 'orders closed']);
  });

  test('are held back at once while reads fail too, except for a probe', async () => {
    await using gateway = await startScriptedGateway(reset);
    await using open = openResilient(gateway.url);
    await readMany(open, 12);
    expect([await trySend(open, 1), await trySend(open, 2)]).toEqual([true, false]);
  });

  test.each([
    ['a page of a proxy', answer(502, '<!doctype html>', { 'content-type': 'text/html' })],
    ['a page of a proxy that is JSON', answer(503, { message: 'no healthy upstream' })],
    ['a 404 without a body', answer(404, '')],
  ])('stay held back after a probe gets %s', async (_, foreign) => {
    let script = reset;
    await using gateway = await startScriptedGateway((socket, request) => script(socket, request));
    await using open = openResilient(gateway.url);
    for (let account = 0; account < 4; account += 1) await trySend(open, account);
    await open.clock.advance(2_000);
    // Orders have been lost for two seconds now, so the next lost order opens the breaker.
    expect([await trySend(open, 4), await trySend(open, 5)]).toEqual([true, false]);
    script = (socket) => socket.write(foreign);
    await open.clock.advance(5_000);
    expect([await trySend(open, 6), await trySend(open, 7)]).toEqual([true, false]);
    // The gateway's own answer to a probe closes the breaker, although it is a 500.
    script = (socket) =>
      socket.write(answer(500, SUBMITTED.toWire({ success: false, orderId: '', error: 'DOWN' })));
    await open.clock.advance(5_000);
    expect([await trySend(open, 8), await trySend(open, 9)]).toEqual([true, true]);
    expect(open.circuitChanges).toEqual(['orders open', 'orders closed']);
  });

  test('are sent while only reads get no answers, because orders are answered', async () => {
    await using gateway = await startScriptedGateway((socket, request) =>
      request.method === 'GET' ? reset(socket, request) : socket.write(ACCEPTED),
    );
    await using open = openResilient(gateway.url);
    await readMany(open, 12);
    expect(await trySend(open, 0)).toBe(true);
    for (let account = 0; account < 20; account += 1) {
      await open.runClockUntil(readPositions(open, account));
      const both = await Promise.all([place(open, account), place(open, account + 20)]);
      expect(both).toMatchObject([{ status: 200 }, { status: 200 }]);
      await open.clock.advance(1_000);
    }
  });

  test('leave the next probe to accounts that have not failed, and to a failed account only if no other account calls', async () => {
    let isDown = true;
    await using gateway = await startScriptedGateway((socket, request) => {
      // Orders of account 1 are lost during the whole test.
      if (isDown || request.headers.authorization === 'Bearer token 1') reset(socket, request);
      else socket.write(ACCEPTED);
    });
    await using open = openResilient(gateway.url);
    for (let account = 0; account < 3; account += 1) await trySend(open, account);
    await open.clock.advance(2_000);
    expect(await trySend(open, 0)).toBe(true);
    await open.clock.advance(5_000);
    // Accounts that have failed are held back; the next other account probes.
    for (const account of [0, 1, 2]) expect(await trySend(open, account)).toBe(false);
    expect([await trySend(open, 7), await trySend(open, 8)]).toEqual([true, false]);
    // The next probe is due after five seconds. For three more seconds it is left to accounts that have not failed.
    await open.clock.advance(7_999);
    expect(await trySend(open, 7)).toBe(false);
    await open.clock.advance(1);
    expect(await trySend(open, 1)).toBe(true);
    // This failed account has probed, so the next probe is left to other accounts again.
    isDown = false;
    await open.clock.advance(5_000);
    expect(await trySend(open, 1)).toBe(false);
    expect([await trySend(open, 2), await trySend(open, 1)]).toEqual([true, true]);
    expect(open.circuitChanges).toEqual(['orders open', 'orders closed']);
  });
});
