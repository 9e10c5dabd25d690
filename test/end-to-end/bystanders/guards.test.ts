import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Environment } from '../../../src/config.ts';
import { TRADING_LIMITS } from '../../../src/domain/auth/trading-limits.ts';
import { ENGINE_LIMITS } from '../../../src/engine/index.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { type LimitName, type LimitTable, limited } from '../../support/limits.ts';
import { keyOf } from '../../support/order-keys.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { unsignedToken } from '../../support/tokens.ts';
import { openRaw } from '../chaos/raw-connection.ts';
import { initializedSocket } from '../live/raw-socket.ts';
import { provedToken } from '../operations/accounts.ts';

const LIMITS = { ...ENGINE_LIMITS, ...TRADING_LIMITS };
const OFFENDER = '192.0.2.1';
const ELSEWHERE = '198.51.100.1';
/** The account that offends, or that is attacked. */
const ACCOUNT = 'demo@example.com';
/** The requests of each bystander, before and during the offence. */
const REQUESTS = 8;

const SESSION = '{ session { login } }';
const TYPENAME = '{ __typename }';
const SET_VALUE = 'mutation { setValue(input: { key: "k", value: 1 }) { __typename } }';
const ADD_DEVICE = 'mutation { registerDevice(input: { deviceId: "d" }) { __typename } }';
/** The same field several times, under aliases. */
const aliased = (count: number, field: string) =>
  Array.from({ length: count }, (_, index) => `f${index}: ${field}`).join(' ');
const MANY_FIELDS = `{ ${aliased(30, '__typename')} }`;
const forgot = (email: string) =>
  `mutation { forgotPassword(input: { email: "${email}" }) { __typename } }`;
const login = (email: string, password: string) =>
  `mutation { login(input: { email: "${email}", password: "${password}" }) { ... on LoginSuccess { accessToken } } }`;
const order = (key: string) =>
  `mutation { placeOrder(input: { symbol: "AAPL", side: SELL, kind: MARKET, size: { amount: 20 }, idempotencyKey: "${keyOf(key)}" }) { __typename } }`;

const from = (address: string) => ({ 'x-forwarded-for': address });

/** The last number that was used for an account of the sandbox, or for the key of an order. */
let last = 0;
const next = () => {
  last += 1;
  return last;
};
const nextUser = () => `user-${next()}@example.com`;

interface Stage {
  readonly app: TestApp;
  /** A token of the offending account. */
  readonly token: string;
  /** Holds the offender's connections open until the test ends. */
  readonly held: DisposableStack;
}

/** Sends a request of a bystander; returns whether it succeeded. */
type Ask = (
  stage: Stage,
  by: { readonly token: string; readonly headers: Readonly<Record<string, string>> },
) => Promise<boolean>;

const queries =
  (document: () => string): Ask =>
  async ({ app }, by) =>
    (await app.query(document(), by)).errors.length === 0;
const readsSession = queries(() => SESSION);
const signsIn: Ask = async ({ app }, { headers }) => {
  const { data } = await app.query(login(nextUser(), 'demo'), { headers });
  const token = data?.login?.accessToken;
  return token !== undefined && (await app.query(SESSION, { token, headers })).errors.length === 0;
};
const subscribes: Ask = async ({ app }, { token }) => {
  using socket = await initializedSocket(app, token);
  return (await socket.watch('1')).payload.errors === undefined;
};

interface Bystander {
  readonly address: string;
  /** Returns a token of this bystander, before the offence begins. */
  token(app: TestApp): Promise<string>;
  readonly ask?: Ask;
}

const freshToken = async (app: TestApp) => app.sandbox.token({ email: nextUser() });
const BYSTANDERS = {
  'another address': { address: ELSEWHERE, token: freshToken },
  'same address, known token': { address: OFFENDER, token: (app) => app.signIn(nextUser()) },
  'same address, proved token': { address: OFFENDER, token: (app) => provedToken(app, nextUser()) },
  'same address, signing in': { address: OFFENDER, token: async () => '', ask: signsIn },
} as const satisfies Record<string, Bystander>;

interface Guard {
  readonly offender: 'an address' | 'an account';
  /** The first words of the limit's row in docs/limits.md. */
  readonly row: string;
  /** Limits that are small, so that a test soon uses them up. They are refilled as usual. */
  readonly limits: Partial<LimitTable>;
  readonly environment?: Environment;
  /** Prepares the offence, and returns a step that is repeated. The step returns whether it was refused. */
  offend(stage: Stage): Step | Promise<Step>;
  readonly unaffected: readonly (keyof typeof BYSTANDERS)[];
  /** The request of the bystanders; by default they read their session. */
  readonly ask?: Ask;
}

type Step = (number: number) => Promise<boolean>;

const KNOWN_TOKENS = ['another address', 'same address, known token'] as const;
const PROVED_TOKENS = ['another address', 'same address, proved token'] as const;

/** The guard of a limit that is reduced to this number. With `limits: {}` the limit keeps its usual number. */
function guard(
  limit: LimitName,
  max: number,
  rest: Omit<Guard, 'row' | 'limits'> & Partial<Guard>,
): Guard {
  return { row: LIMITS[limit].what, limits: limited(limit, max), ...rest };
}

async function isRefused(answer: ReturnType<TestApp['query']>): Promise<boolean> {
  return (await answer).errors[0]?.extensions.code === 'RATE_LIMITED';
}

/** Sends documents without a token from the offending address. */
const askByAddress =
  (document: () => string): Guard['offend'] =>
  ({ app }) =>
  () =>
    isRefused(app.query(document(), { headers: from(OFFENDER) }));
/** Sends documents with the token of the offending account. */
const askByToken =
  (document: () => string): Guard['offend'] =>
  ({ app, token }) =>
  () =>
    isRefused(app.query(document(), { token }));

const GUARDS: readonly Guard[] = [
  guard('requests', 40, {
    offender: 'an address',
    offend: askByAddress(() => TYPENAME),
    unaffected: PROVED_TOKENS,
  }),
  guard('requests', 200, {
    offender: 'an account',
    offend: askByToken(() => TYPENAME),
    unaffected: PROVED_TOKENS,
  }),
  guard('fields', 300, {
    offender: 'an address',
    offend: askByAddress(() => MANY_FIELDS),
    unaffected: PROVED_TOKENS,
  }),
  guard('fields', 2_000, {
    offender: 'an account',
    offend: askByToken(() => MANY_FIELDS),
    unaffected: PROVED_TOKENS,
  }),
  guard('messages', 40, {
    offender: 'an address',
    offend:
      ({ app }) =>
      async () =>
        (await rawRequest(`${app.url}/nothing`, { headers: from(OFFENDER) })).status === 429,
    unaffected: PROVED_TOKENS,
  }),
  guard('connections', 12, {
    offender: 'an address',
    offend:
      ({ app, held }) =>
      async () => {
        // The offender connects from another local address than the bystanders.
        const raw = held.use(await openRaw(app.url, '127.0.1.2'));
        raw.socket.write('GET /health/live HTTP/1.1\r\nhost: facade\r\n\r\n');
        await eventually(() => raw.isClosed || raw.received !== '');
        return raw.received === '';
      },
    unaffected: KNOWN_TOKENS,
  }),
  guard('subscriptions', 12, {
    offender: 'an account',
    async offend({ app, token, held }) {
      const socket = held.use(await initializedSocket(app, token));
      return async (number) => {
        const id = String(number);
        const { payload } = await socket.watch(id).catch(() => socket.until(id, 'error'));
        return JSON.stringify(payload).includes('RATE_LIMITED');
      };
    },
    unaffected: PROVED_TOKENS,
    ask: subscribes,
  }),
  guard('login', 10, {
    offender: 'an address',
    limits: {},
    offend: askByAddress(() => login(ACCOUNT, 'wrong')),
    unaffected: ['another address', 'same address, signing in'],
    ask: signsIn,
  }),
  guard('forgotPassword', 30, {
    offender: 'an address',
    offend: askByAddress(() => forgot(nextUser())),
    unaffected: ['another address'],
    ask: queries(() => forgot(nextUser())),
  }),
  guard('resets', 3, {
    offender: 'an address',
    limits: {},
    // Requests mails to one e-mail address, each time from another IP address.
    offend:
      ({ app }) =>
      (number) =>
        isRefused(app.query(forgot(ACCOUNT), { headers: from(`203.0.113.${number % 250}`) })),
    unaffected: KNOWN_TOKENS,
    ask: queries(() => forgot(nextUser())),
  }),
  guard('orders', 40, {
    offender: 'an account',
    offend: askByToken(() => order(`offender-${next()}`)),
    unaffected: PROVED_TOKENS,
    ask: queries(() => order(`bystander-${next()}`)),
  }),
  guard('writes', 40, {
    offender: 'an account',
    offend: askByToken(() => SET_VALUE),
    unaffected: PROVED_TOKENS,
    ask: queries(() => ADD_DEVICE),
  }),
  guard('proofs', 10, {
    offender: 'an address',
    offend: ({ app }) => {
      return async () => {
        const token = unsignedToken({ login: 5_000_000, group: 'g', exp: 4e9, at: next() });
        return isRefused(app.query(SESSION, { token, headers: from(OFFENDER) }));
      };
    },
    unaffected: [...KNOWN_TOKENS, 'same address, signing in'],
  }),
  {
    offender: 'an account',
    row: 'orders at the gateway at a time',
    limits: {},
    environment: { ORDER_TIMEOUT_MS: '60000', SHUTDOWN_GRACE_MS: '60001' },
    async offend({ app, token, held }) {
      const hanging = { operation: 'openPosition', login: 700_001 } as const;
      app.sandbox.fail({ ...hanging, kind: 'delay', delayMs: 600_000 });
      // Ends the orders that hang.
      held.defer(() => void app.sandbox.close());
      const place = () => app.query(order(`offender-${next()}`), { token });
      // An account's orders use at most eight connections, a quarter of all.
      for (let placed = 0; placed < 8; placed += 1) place().catch(() => {});
      await eventually(() => expect(app.sandbox.calls('openPosition', hanging.login)).toBe(8));
      return async () => (await place()).errors[0]?.extensions.code === 'GATEWAY_UNAVAILABLE';
    },
    unaffected: PROVED_TOKENS,
    ask: queries(() => order(`bystander-${next()}`)),
  },
];

/** Rows that are tested in records-unavailable.test.ts and in open-connections.test.ts. */
const TESTED_ELSEWHERE = ['orders in a day', 'unread and unfinished bytes'];

test('each limit is documented with the clients that it affects, and each documented limit is tested', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/limits.md'), 'utf8');
  const [, table = ''] = page.split('| What | Limit | Beyond it | Who else is affected |\n');
  const rows = table.split('\n\n')[0]?.split('\n').slice(1) ?? [];
  const tested = [...GUARDS.map(({ row }) => row), ...TESTED_ELSEWHERE];
  const hasRow = (what: string) => rows.some((row) => row.startsWith(`| ${what}`));
  const isTested = (row: string) => tested.some((what) => row.startsWith(`| ${what}`));
  // Cells are divided by bars without a backslash. The first cell is empty, because a row begins with a bar.
  const affectedClients = (row: string) => row.split(/(?<!\\)\|/)[4]?.trim() ?? '';
  expect(Object.values(LIMITS).filter(({ what }) => !hasRow(what))).toEqual([]);
  expect(tested.filter((what) => !hasRow(what))).toEqual([]);
  expect(rows.filter((row) => !isTested(row))).toEqual([]);
  expect(rows.filter((row) => affectedClients(row) === '')).toEqual([]);
});

test.each(GUARDS)(
  'while $offender keeps exceeding “$row”, other clients are answered as before',
  async ({ limits, environment, offend, unaffected, ask = readsSession }) => {
    const settings = { TRUSTED_PROXIES: '127.0.0.1', ...environment };
    await using app = await startTestApp(settings, { limits });
    using held = new DisposableStack();
    const stage = { app, held, token: await provedToken(app, ACCOUNT) };
    /** Prepares the requests of a bystander. The returned function sends them, and counts the successes. */
    const prepareRequests = async (bystander: Bystander) => {
      const tokens = await inParallel(REQUESTS, 2, () => bystander.token(app));
      const headers = from(bystander.address);
      const send = bystander.ask ?? ask;
      return async () => {
        const successes = await inParallel(REQUESTS, 2, (index) =>
          send(stage, { token: tokens[index] as string, headers }),
        );
        return successes.filter(Boolean).length;
      };
    };
    const bystanders = await Promise.all(
      unaffected.map(async (name) => {
        const askBefore = await prepareRequests(BYSTANDERS[name]);
        const askDuring = await prepareRequests(BYSTANDERS[name]);
        return { name, askDuring, before: await askBefore() };
      }),
    );
    const step = await offend(stage);
    let refused = 0;
    let isOver = false;
    const flood = inParallel(2, 2, async (worker) => {
      const firstStep = worker * 10_000;
      for (let done = 0; done < 2_000 && !isOver; done += 1) {
        if (await step(firstStep + done).catch(() => true)) refused += 1;
      }
    });
    await eventually(() => refused > 0);
    for (const { name, askDuring, before } of bystanders) {
      const during = await askDuring();
      expect(before, name).toBe(REQUESTS);
      expect(during, name).toBe(REQUESTS);
    }
    isOver = true;
    await flood;
  },
);
