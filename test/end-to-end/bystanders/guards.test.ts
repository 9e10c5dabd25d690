import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Environment } from '../../../src/config.ts';
import { TRADING_LIMITS } from '../../../src/domain/auth/limits.ts';
import { type ConnectionBounds, ENGINE_LIMITS } from '../../../src/engine/index.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { type LimitName, type LimitTable, limited } from '../../support/limits.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { unsignedToken } from '../../support/tokens.ts';
import { openRaw } from '../chaos/raw-connection.ts';
import {
  askAndStall,
  cuts,
  LONG_REQUESTS,
  longField,
  MEGABYTE,
  ROOMY,
  UNTAKEN_BYTES,
} from '../limits/slow-reader.ts';
import { initializedSocket } from '../live/raw-socket.ts';
import { provedToken } from '../operations/accounts.ts';

const LIMITS = { ...ENGINE_LIMITS, ...TRADING_LIMITS };
const OFFENDER = '192.0.2.1';
const ELSEWHERE = '198.51.100.1';
/** The account that offends, or that is attacked. */
const ACCOUNT = 'demo@example.com';
const ASKED = 8;

const SESSION = '{ session { login } }';
const TYPENAME = '{ __typename }';
const SET_VALUE = 'mutation { setValue(input: { key: "k", value: 1 }) { __typename } }';
const ADD_DEVICE = 'mutation { registerDevice(input: { deviceId: "d" }) { __typename } }';
const names = (count: number, field: string) =>
  Array.from({ length: count }, (_, at) => `f${at}: ${field}`).join(' ');
const MANY_FIELDS = `{ ${names(30, '__typename')} }`;
const COSTLY = `{ session { login } ${names(5, 'instruments(first: 500) { nodes { id symbol name description logo } }')} }`;
const forgot = (email: string) =>
  `mutation { forgotPassword(input: { email: "${email}" }) { __typename } }`;
const login = (email: string, password: string) =>
  `mutation { login(input: { email: "${email}", password: "${password}" }) { ... on LoginSuccess { accessToken } } }`;
const order = (key: string) =>
  `mutation { placeOrder(input: { symbol: "AAPL", side: SELL, kind: MARKET, size: { amount: 20 }, idempotencyKey: "${key}" }) { __typename } }`;

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
  readonly held: DisposableStack;
}

type Ask = (
  stage: Stage,
  by: { readonly token: string; readonly headers: Readonly<Record<string, string>> },
) => Promise<boolean>;

const answers =
  (document: () => string): Ask =>
  async ({ app }, by) =>
    (await app.query(document(), by)).errors.length === 0;
const readsSession = answers(() => SESSION);
const signsIn: Ask = async ({ app }, { headers }) => {
  const { data } = await app.query(login(nextUser(), 'demo'), { headers });
  const token = data?.login?.accessToken;
  return token !== undefined && (await app.query(SESSION, { token, headers })).errors.length === 0;
};
const follows: Ask = async ({ app }, { token }) => {
  using socket = await initializedSocket(app, token);
  return (await socket.watch('1')).payload.errors === undefined;
};

interface Bystander {
  readonly address: string;
  /** Returns its token, before the offence begins. */
  token(app: TestApp): Promise<string>;
  readonly ask?: Ask;
}

const fresh = async (app: TestApp) => app.sandbox.token({ email: nextUser() });
const BYSTANDERS = {
  'another address': { address: ELSEWHERE, token: fresh },
  'same address, known token': { address: OFFENDER, token: (app) => app.signIn(nextUser()) },
  'same address, proved token': { address: OFFENDER, token: (app) => provedToken(app, nextUser()) },
  'same address, signing in': { address: OFFENDER, token: async () => '', ask: signsIn },
  'same account, another token': { address: ELSEWHERE, token: (app) => provedToken(app, ACCOUNT) },
} as const satisfies Record<string, Bystander>;

interface Guard {
  readonly of: 'an address' | 'an account';
  /** The beginning of its row in docs/limits.md. */
  readonly row: string;
  /** Small numbers, so that a test soon uses them up. They are refilled as usual. */
  readonly limits: Partial<LimitTable>;
  readonly environment?: Environment;
  readonly connections?: ConnectionBounds;
  /** Prepares the offence, and returns a step that is repeated. The step is true if it was refused. */
  offend(stage: Stage): Step | Promise<Step>;
  readonly unaffected: readonly (keyof typeof BYSTANDERS)[];
  /** The request of the bystanders; by default they read their session. */
  readonly ask?: Ask;
}

type Step = (at: number) => Promise<boolean>;

const UNAFFECTED_BY_AN_ADDRESS = ['another address', 'same address, known token'] as const;
const UNAFFECTED_BY_AN_ACCOUNT = ['another address', 'same address, proved token'] as const;
const UNAFFECTED_BY_A_TOKEN = ['another address', 'same account, another token'] as const;

/** A limit of the tables, reduced to this number. */
function guard(
  limit: LimitName,
  max: number,
  rest: Omit<Guard, 'row' | 'limits'> & Partial<Guard>,
): Guard {
  return { row: LIMITS[limit].what, limits: limited(limit, max), ...rest };
}

async function isRefused(asked: ReturnType<TestApp['query']>): Promise<boolean> {
  return (await asked).errors[0]?.extensions.code === 'RATE_LIMITED';
}

/** Sends documents without a token from the offending address. */
const asksFor =
  (document: (at: number) => string): Guard['offend'] =>
  ({ app }) =>
  (at) =>
    isRefused(app.query(document(at), { headers: from(OFFENDER) }));
/** Sends documents with the token of the offending account. */
const asksByToken =
  (document: (at: number) => string): Guard['offend'] =>
  ({ app, token }) =>
  (at) =>
    isRefused(app.query(document(at), { token }));

const GUARDS: readonly Guard[] = [
  guard('requests', 40, {
    of: 'an address',
    offend: asksFor(() => TYPENAME),
    unaffected: UNAFFECTED_BY_AN_ACCOUNT,
  }),
  guard('requests', 200, {
    of: 'an account',
    offend: asksByToken(() => TYPENAME),
    unaffected: UNAFFECTED_BY_AN_ACCOUNT,
  }),
  guard('fields', 300, {
    of: 'an address',
    offend: asksFor(() => MANY_FIELDS),
    unaffected: UNAFFECTED_BY_AN_ACCOUNT,
  }),
  guard('fields', 2_000, {
    of: 'an account',
    offend: asksByToken(() => MANY_FIELDS),
    unaffected: UNAFFECTED_BY_AN_ACCOUNT,
  }),
  guard('messages', 40, {
    of: 'an address',
    offend:
      ({ app }) =>
      async () =>
        (await rawRequest(`${app.url}/nothing`, { headers: from(OFFENDER) })).status === 429,
    unaffected: UNAFFECTED_BY_AN_ACCOUNT,
  }),
  guard('connections', 12, {
    of: 'an address',
    offend:
      ({ app, held }) =>
      async () => {
        const raw = held.use(await openRaw(app.url, '127.0.1.2'));
        raw.socket.write('GET /health/live HTTP/1.1\r\nhost: facade\r\n\r\n');
        await eventually(() => raw.isClosed || raw.received !== '');
        return raw.received === '';
      },
    unaffected: UNAFFECTED_BY_AN_ADDRESS,
  }),
  guard('subscriptions', 12, {
    of: 'an account',
    async offend({ app, token, held }) {
      const socket = held.use(await initializedSocket(app, token));
      return async (at) => {
        const { payload } = await socket.watch(`${at}`).catch(() => socket.until(`${at}`, 'error'));
        return JSON.stringify(payload).includes('RATE_LIMITED');
      };
    },
    unaffected: UNAFFECTED_BY_AN_ACCOUNT,
    ask: follows,
  }),
  guard('largeAnswers', 3, {
    of: 'an account',
    offend: asksByToken(() => COSTLY),
    unaffected: UNAFFECTED_BY_AN_ACCOUNT,
    ask: answers(() => COSTLY),
  }),
  guard('login', 10, {
    of: 'an address',
    limits: {},
    offend: asksFor(() => login(ACCOUNT, 'wrong')),
    unaffected: ['another address', 'same address, signing in'],
    ask: signsIn,
  }),
  guard('forgotPassword', 30, {
    of: 'an address',
    offend: asksFor(() => forgot(nextUser())),
    unaffected: ['another address'],
    ask: answers(() => forgot(nextUser())),
  }),
  guard('resets', 3, {
    of: 'an address',
    limits: {},
    // Requests mails to one e-mail, each time from another address.
    offend:
      ({ app }) =>
      (at) =>
        isRefused(app.query(forgot(ACCOUNT), { headers: from(`203.0.113.${at % 250}`) })),
    unaffected: UNAFFECTED_BY_AN_ADDRESS,
    ask: answers(() => forgot(nextUser())),
  }),
  guard('orders', 40, {
    of: 'an account',
    offend: asksByToken(() => order(`offender-${next()}`)),
    unaffected: UNAFFECTED_BY_AN_ACCOUNT,
    ask: answers(() => order(`bystander-${next()}`)),
  }),
  guard('writes', 40, {
    of: 'an account',
    offend: asksByToken(() => SET_VALUE),
    unaffected: UNAFFECTED_BY_AN_ACCOUNT,
    ask: answers(() => ADD_DEVICE),
  }),
  guard('proofs', 10, {
    of: 'an address',
    offend: ({ app }) => {
      return async () => {
        const token = unsignedToken({ login: 5_000_000, group: 'g', exp: 4e9, at: next() });
        return isRefused(app.query(SESSION, { token, headers: from(OFFENDER) }));
      };
    },
    unaffected: [...UNAFFECTED_BY_AN_ADDRESS, 'same address, signing in'],
  }),
  {
    of: 'an account',
    row: 'unread and unfinished bytes',
    limits: {},
    environment: LONG_REQUESTS,
    connections: { heldBytes: 24 * MEGABYTE },
    offend: ({ app, token, held }) => {
      let readers = 0;
      return async () => {
        readers += 1;
        if (readers <= 6)
          held.use(await askAndStall(app, `{ ${longField(UNTAKEN_BYTES)} }`, { token }));
        return (await cuts(app, 'bytes')) > 0;
      };
    },
    unaffected: UNAFFECTED_BY_A_TOKEN,
  },
];

/** Rows that are tested in orders.test.ts. */
const IN_ORDERS = ['orders at the gateway at a time', 'orders in a day'];

test('each limit has a documented row with the other affected clients, and each row has a test here', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/limits.md'), 'utf8');
  const [, table = ''] = page.split('| What | Limit | Beyond it | Who else is affected |\n');
  const rows = table.split('\n\n')[0]?.split('\n').slice(1) ?? [];
  const tried = [...GUARDS.map(({ row }) => row), ...IN_ORDERS];
  const hasRow = (what: string) => rows.some((row) => row.startsWith(`| ${what}`));
  expect(Object.values(LIMITS).filter(({ what }) => !hasRow(what))).toEqual([]);
  expect(tried.filter((what) => !hasRow(what))).toEqual([]);
  expect(rows.filter((row) => !tried.some((what) => row.startsWith(`| ${what}`)))).toEqual([]);
  expect(rows.filter((row) => (row.split(/(?<!\\)\|/)[4]?.trim() ?? '') === '')).toEqual([]);
});

test.each(GUARDS)(
  'while $of keeps exceeding “$row”, other clients are answered as before',
  async ({ limits, environment, connections = ROOMY, offend, unaffected, ask = readsSession }) => {
    const settings = { TRUSTED_PROXIES: '127.0.0.1', ...environment };
    await using app = await startTestApp(settings, { limits, connections });
    using held = new DisposableStack();
    const stage = { app, held, token: await provedToken(app, ACCOUNT) };
    const asking = async (bystander: Bystander) => {
      const tokens = await inParallel(ASKED, 2, () => bystander.token(app));
      const by = (at: number) => ({
        token: tokens[at] as string,
        headers: from(bystander.address),
      });
      return async () => {
        const all = await inParallel(ASKED, 2, (at) => (bystander.ask ?? ask)(stage, by(at)));
        return all.filter(Boolean).length;
      };
    };
    const bystanders = await Promise.all(
      unaffected.map(async (name) => {
        const askBefore = await asking(BYSTANDERS[name]);
        const askDuring = await asking(BYSTANDERS[name]);
        return { name, askDuring, before: await askBefore() };
      }),
    );
    const step = await offend(stage);
    let refused = 0;
    let isOver = false;
    const flood = inParallel(4, 4, async (worker) => {
      for (let at = 0; at < 2_000 && !isOver; at += 1) {
        if (await step(worker * 10_000 + at).catch(() => true)) refused += 1;
      }
    });
    await eventually(() => refused > 0);
    for (const { name, askDuring, before } of bystanders) {
      const during = await askDuring();
      expect([before, during / before >= 0.95], name).toEqual([ASKED, true]);
    }
    isOver = true;
    await flood;
  },
);
