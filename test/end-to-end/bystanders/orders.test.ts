import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { Config, Environment } from '../../../src/config.ts';
import { OPEN_POSITIONS } from '../../../src/gateway/operations/get-open-positions.ts';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { sessionWith } from '../../gateway/wire/rows.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { accepted, pathOf } from '../../support/ask-gateway.ts';
import { eventually } from '../../support/eventually.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { listenLocally } from '../../support/local-server.ts';
import { keyOf } from '../../support/order-keys.ts';
import { unsignedToken } from '../../support/tokens.ts';

/** Logins of accounts whose orders the gateway accepts. */
const BYSTANDERS = Array.from({ length: 8 }, (_, index) => 900_001 + index);
/** Logins of accounts whose orders cause trouble. */
const OFFENDERS = [800_001, 800_002, 800_003];
/** With these settings no order times out during a test. The grace period must be longer than the timeout. */
const LONG_TIMEOUT = { ORDER_TIMEOUT_MS: '60000', SHUTDOWN_GRACE_MS: '60001' };
/** An account can use a quarter of the 32 connections to the gateway. */
const MAX_ORDERS_IN_FLIGHT = 8;

/** How the gateway treats the orders of one account: for example it accepts, rejects, or never answers. */
type Treatment = (response: ServerResponse, accept: () => void) => void;

const accepts: Treatment = (_response, accept) => accept();
const hangs: Treatment = () => {};
const resets: Treatment = (response) => response.socket?.resetAndDestroy();
const rejects: Treatment = (response) =>
  json(response, 200, { success: false, err: 'UNKNOWN_SYMBOL' });
const answerWithPage = (response: ServerResponse) =>
  response.writeHead(503, { 'content-type': 'text/html' }).end('<!doctype html>');

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** The account's login, from a request's token. */
function loginOf({ headers: { authorization = '' } }: IncomingMessage): number {
  const [, payload = ''] = authorization.split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString()).login;
}

/** A gateway with empty accounts, and a treatment for the orders of each account. */
async function startGateway() {
  const sandbox = await startSandbox({ tickMs: 86_400_000 });
  const state = {
    treatments: new Map<number, Treatment>(),
    isDown: false,
    /** The logins of the received orders, in their order. */
    orders: [] as number[],
    /** Responses that are never sent. */
    hanging: [] as ServerResponse[],
  };
  const server = createServer(async (request, response) => {
    await text(request);
    if (state.isDown) return void answerWithPage(response);
    const login = loginOf(request);
    if (request.method === 'GET') {
      const isSession = request.url === pathOf('getSession', { login: String(login) });
      const session = sessionWith({ login: Number(login) });
      json(response, 200, isSession ? session : OPEN_POSITIONS.toWire({ positions: [] }));
      return;
    }
    state.orders.push(login);
    const orderId = String(state.orders.length);
    const treatment = state.treatments.get(login) ?? accepts;
    if (treatment === hangs) state.hanging.push(response);
    treatment(response, () => json(response, 200, accepted(orderId)));
  });
  const local = await listenLocally(server);
  return {
    state,
    sandbox,
    url: local.url,
    async [Symbol.asyncDispose]() {
      await sandbox[Symbol.asyncDispose]();
      await local[Symbol.asyncDispose]();
    },
  };
}

type Gateway = Awaited<ReturnType<typeof startGateway>>;

function start(gateway: Gateway, environment: Environment = {}, change: Partial<Config> = {}) {
  const settings = { TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT_PER_MINUTE: '100000' };
  const all = { GATEWAY_URL: gateway.url, ...settings, ...environment };
  return startTestApp(all, { gateway: gateway.sandbox, change });
}

let keys = 0;

/** Places one order from the account's own address; returns the type of its outcome or the code of its error. */
async function place({ query }: TestApp, login: number): Promise<string> {
  keys += 1;
  const { data, errors } = await query(
    `mutation { placeOrder(input: { symbol: "AAPL", side: BUY, kind: MARKET, size: { units: 1 }, idempotencyKey: "${keyOf(`k${keys}`)}" }) { __typename } }`,
    credentialsOf(login),
  );
  return data?.placeOrder?.__typename ?? errors[0]?.extensions.code;
}

/** An account's token, and its address. */
function credentialsOf(login: number) {
  const token = unsignedToken({ login, group: 'g', exp: 4_000_000_000 });
  return { token, headers: { 'x-forwarded-for': `192.0.2.${login % 1_000}` } };
}

/** Each bystander places this number of orders, one after the other. Returns all outcomes. */
async function bystandersPlace(app: TestApp, each: number): Promise<string[]> {
  const outcomes = await inParallel(BYSTANDERS.length, BYSTANDERS.length, async (index) => {
    const own: string[] = [];
    for (let n = 0; n < each; n += 1) own.push(await place(app, BYSTANDERS[index] as number));
    return own;
  });
  return outcomes.flat();
}

const share = (outcomes: readonly string[], outcome: string) =>
  outcomes.filter((each) => each === outcome).length / outcomes.length;

test('hanging orders of one account or of three do not delay other accounts', async () => {
  await using gateway = await startGateway();
  const { state } = gateway;
  await using app = await start(gateway, LONG_TIMEOUT);
  await bystandersPlace(app, 1);
  for (const login of OFFENDERS) state.treatments.set(login, hangs);
  for (const offenders of [1, 3]) {
    const before = state.orders.length;
    const hanging = OFFENDERS.slice(0, offenders).flatMap((login) =>
      Array.from({ length: 60 }, () => place(app, login)),
    );
    const outcomes: string[] = [];
    for (const each of hanging) {
      each.then(
        (outcome) => outcomes.push(outcome),
        () => {},
      );
    }
    expect(share(await bystandersPlace(app, 10), 'OrderAccepted')).toBe(1);
    // The orders that wait too long for a connection are refused unsent. The others hang.
    await eventually(() => outcomes.length >= (60 - MAX_ORDERS_IN_FLIGHT) * offenders);
    expect(new Set(outcomes)).toEqual(new Set(['GATEWAY_UNAVAILABLE']));
    const sent = state.orders.slice(before).filter((login) => OFFENDERS.includes(login));
    expect(sent.length).toBeLessThanOrEqual(MAX_ORDERS_IN_FLIGHT * offenders);
    for (const response of state.hanging.splice(0)) response.destroy();
  }
});

test('200 concurrent orders of one account use only a quarter of the connections', async () => {
  await using gateway = await startGateway();
  const { state } = gateway;
  await using app = await start(gateway, LONG_TIMEOUT);
  await bystandersPlace(app, 1);
  const [flooder = 0] = OFFENDERS;
  // The gateway answers these orders only after the others' orders are done.
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let [inFlight, mostInFlight] = [0, 0];
  state.treatments.set(flooder, async (_response, accept) => {
    inFlight += 1;
    mostInFlight = Math.max(mostInFlight, inFlight);
    await released;
    inFlight -= 1;
    accept();
  });
  const flood = Promise.all(Array.from({ length: 200 }, () => place(app, flooder)));
  await eventually(() => inFlight === MAX_ORDERS_IN_FLIGHT);
  expect(share(await bystandersPlace(app, 5), 'OrderAccepted')).toBe(1);
  release();
  // Each order was either sent and accepted, or waited too long for a connection and was refused unsent.
  const outcomes = await flood;
  const sent = state.orders.filter((login) => login === flooder);
  const refused = outcomes.filter((outcome) => outcome === 'GATEWAY_UNAVAILABLE');
  expect(outcomes.filter((outcome) => outcome === 'OrderAccepted')).toHaveLength(sent.length);
  expect(refused).toHaveLength(outcomes.length - sent.length);
  expect(mostInFlight).toBe(MAX_ORDERS_IN_FLIGHT);
});

test.each([
  ['resets', resets],
  ['answers too late', hangs],
])(
  'three accounts whose orders the gateway %s do not block the orders of others',
  async (_, treatment) => {
    await using gateway = await startGateway();
    const { state } = gateway;
    await using app = await start(gateway, { ORDER_TIMEOUT_MS: '3000' });
    await bystandersPlace(app, 1);
    state.orders.length = 0;
    for (const login of OFFENDERS) state.treatments.set(login, treatment);
    const offenderOutcomes: string[] = [];
    const bystanderOutcomes: string[] = [];
    for (let round = 0; round < 2; round += 1) {
      const placed = [...OFFENDERS, ...OFFENDERS].map((login) => place(app, login));
      offenderOutcomes.push(...(await Promise.all(placed)));
      bystanderOutcomes.push(...(await bystandersPlace(app, 2)));
    }
    expect(share(offenderOutcomes, 'OrderOutcomeUnknown')).toBe(1);
    // On a busy machine an accepted order can be answered too late. But each was sent, and none was refused unsent.
    expect(bystanderOutcomes).not.toContain('GATEWAY_UNAVAILABLE');
    const sent = state.orders.filter((login) => BYSTANDERS.includes(login));
    expect(sent).toHaveLength(bystanderOutcomes.length);
  },
);

test('few orders are sent while a proxy answers with its own pages, and one account can end that state', async () => {
  await using gateway = await startGateway();
  const { state } = gateway;
  await using app = await start(gateway);
  await bystandersPlace(app, 1);
  state.isDown = true;
  const outcomes: string[] = [];
  for (let round = 0; round < 20; round += 1) {
    const reads = BYSTANDERS.map((login) =>
      app.query('{ positions { id } }', credentialsOf(login)),
    );
    const [placed] = await Promise.all([bystandersPlace(app, 1), ...reads]);
    outcomes.push(...placed);
  }
  expect(outcomes.length).toBe(20 * BYSTANDERS.length);
  // The outcome of an order that was sent is unknown. The open breaker refuses the others unsent, except its few probes.
  const unknown = outcomes.filter((outcome) => outcome === 'OrderOutcomeUnknown');
  expect(unknown.length).toBeLessThanOrEqual(25);
  expect(new Set(outcomes)).toEqual(new Set(['OrderOutcomeUnknown', 'GATEWAY_UNAVAILABLE']));
  state.isDown = false;
  const [oneAccount = 0] = BYSTANDERS;
  await eventually(async () => (await place(app, oneAccount)) === 'OrderAccepted');
});

test('records of some accounts’ rejected orders are dropped to make room for the orders of others', async () => {
  await using gateway = await startGateway();
  const { state } = gateway;
  const settings = { ORDER_RECORDS_PER_ACCOUNT: '60' };
  await using app = await start(gateway, settings, { orderRecordsMax: 100 });
  for (const login of OFFENDERS) state.treatments.set(login, rejects);
  for (const login of OFFENDERS) {
    for (let n = 0; n < 40; n += 1) expect(await place(app, login)).toBe('OrderRejected');
  }
  const outcomes = await bystandersPlace(app, 1);
  expect(new Set(outcomes)).toEqual(new Set(['OrderAccepted']));
});
