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
  LONG_QUESTIONS,
  longField,
  MEGABYTE,
  ROOMY,
  UNTAKEN_BYTES,
} from '../limits/slow-reader.ts';
import { initializedSocket } from '../live/raw-socket.ts';
import { provedToken } from '../operations/accounts.ts';

const LIMITS = { ...ENGINE_LIMITS, ...TRADING_LIMITS };
const GUILTY = '192.0.2.1';
const ELSEWHERE = '198.51.100.1';
const VICTIM = 'demo@example.com';
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

/** The accounts of the sandbox, each of which is asked for once with a token of its own, and the keys of orders. */
let last = 0;
const next = () => {
  last += 1;
  return last;
};
const nextUser = () => `user-${next()}@example.com`;

interface Stage {
  readonly app: TestApp;
  /** A token of the guilty account. */
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

interface Innocent {
  readonly address: string;
  /** Made before the guilty begins. */
  token(app: TestApp): Promise<string>;
  readonly ask?: Ask;
}

const fresh = async (app: TestApp) => app.sandbox.token({ email: nextUser() });
const INNOCENTS = {
  'another address': { address: ELSEWHERE, token: fresh },
  'same address, known token': { address: GUILTY, token: (app) => app.signIn(nextUser()) },
  'same address, proved token': { address: GUILTY, token: (app) => provedToken(app, nextUser()) },
  'same address, signing in': { address: GUILTY, token: async () => '', ask: signsIn },
  'same account, another token': { address: ELSEWHERE, token: (app) => provedToken(app, VICTIM) },
} as const satisfies Record<string, Innocent>;

interface Guard {
  readonly of: 'an address' | 'an account';
  /** The beginning of its row in docs/limits.md. */
  readonly row: string;
  /** So few that a test uses them up; what refills goes on refilling. */
  readonly limits: Partial<LimitTable>;
  readonly environment?: Environment;
  readonly connections?: ConnectionBounds;
  /** One step of the guilty after another. True once it was refused, which it goes on to be. */
  guilty(stage: Stage): Step | Promise<Step>;
  readonly kept: readonly (keyof typeof INNOCENTS)[];
  /** What the innocents want; their session, where it is left out. */
  readonly ask?: Ask;
}

type Step = (at: number) => Promise<boolean>;

const BESIDE_AN_ADDRESS = ['another address', 'same address, known token'] as const;
const BESIDE_AN_ACCOUNT = ['another address', 'same address, proved token'] as const;
const BESIDE_A_TOKEN = ['another address', 'same account, another token'] as const;

/** A guard of the tables, of which there are so many. */
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

/** Asks again and again, from the address of the guilty. */
const asksFor =
  (document: (at: number) => string): Guard['guilty'] =>
  ({ app }) =>
  (at) =>
    isRefused(app.query(document(at), { headers: from(GUILTY) }));
/** Asks again and again with the token of the guilty. */
const asksByToken =
  (document: (at: number) => string): Guard['guilty'] =>
  ({ app, token }) =>
  (at) =>
    isRefused(app.query(document(at), { token }));

const GUARDS: readonly Guard[] = [
  guard('requests', 40, {
    of: 'an address',
    guilty: asksFor(() => TYPENAME),
    kept: BESIDE_AN_ACCOUNT,
  }),
  guard('requests', 200, {
    of: 'an account',
    guilty: asksByToken(() => TYPENAME),
    kept: BESIDE_AN_ACCOUNT,
  }),
  guard('fields', 300, {
    of: 'an address',
    guilty: asksFor(() => MANY_FIELDS),
    kept: BESIDE_AN_ACCOUNT,
  }),
  guard('fields', 2_000, {
    of: 'an account',
    guilty: asksByToken(() => MANY_FIELDS),
    kept: BESIDE_AN_ACCOUNT,
  }),
  guard('messages', 40, {
    of: 'an address',
    guilty:
      ({ app }) =>
      async () =>
        (await rawRequest(`${app.url}/nothing`, { headers: from(GUILTY) })).status === 429,
    kept: BESIDE_AN_ACCOUNT,
  }),
  guard('connections', 12, {
    of: 'an address',
    guilty:
      ({ app, held }) =>
      async () => {
        const raw = held.use(await openRaw(app.url, '127.0.1.2'));
        raw.socket.write('GET /health/live HTTP/1.1\r\nhost: facade\r\n\r\n');
        await eventually(() => raw.isClosed || raw.received !== '');
        return raw.received === '';
      },
    kept: BESIDE_AN_ADDRESS,
  }),
  guard('subscriptions', 12, {
    of: 'an account',
    async guilty({ app, token, held }) {
      const socket = held.use(await initializedSocket(app, token));
      return async (at) => {
        const { payload } = await socket.watch(`${at}`).catch(() => socket.until(`${at}`, 'error'));
        return JSON.stringify(payload).includes('RATE_LIMITED');
      };
    },
    kept: BESIDE_AN_ACCOUNT,
    ask: follows,
  }),
  guard('largeAnswers', 3, {
    of: 'an account',
    guilty: asksByToken(() => COSTLY),
    kept: BESIDE_AN_ACCOUNT,
    ask: answers(() => COSTLY),
  }),
  guard('login', 10, {
    of: 'an address',
    limits: {},
    guilty: asksFor(() => login(VICTIM, 'wrong')),
    kept: ['another address', 'same address, signing in'],
    ask: signsIn,
  }),
  guard('forgotPassword', 30, {
    of: 'an address',
    guilty: asksFor(() => forgot(nextUser())),
    kept: ['another address'],
    ask: answers(() => forgot(nextUser())),
  }),
  guard('resets', 3, {
    of: 'an address',
    limits: {},
    // Mails to one e-mail, from ever other addresses.
    guilty:
      ({ app }) =>
      (at) =>
        isRefused(app.query(forgot(VICTIM), { headers: from(`203.0.113.${at % 250}`) })),
    kept: BESIDE_AN_ADDRESS,
    ask: answers(() => forgot(nextUser())),
  }),
  guard('orders', 40, {
    of: 'an account',
    guilty: asksByToken(() => order(`guilty-${next()}`)),
    kept: BESIDE_AN_ACCOUNT,
    ask: answers(() => order(`innocent-${next()}`)),
  }),
  guard('writes', 40, {
    of: 'an account',
    guilty: asksByToken(() => SET_VALUE),
    kept: BESIDE_AN_ACCOUNT,
    ask: answers(() => ADD_DEVICE),
  }),
  guard('proofs', 10, {
    of: 'an address',
    guilty: ({ app }) => {
      return async () => {
        const token = unsignedToken({ login: 5_000_000, group: 'g', exp: 4e9, at: next() });
        return isRefused(app.query(SESSION, { token, headers: from(GUILTY) }));
      };
    },
    kept: [...BESIDE_AN_ADDRESS, 'same address, signing in'],
  }),
  {
    of: 'an account',
    row: 'unread and unfinished bytes',
    limits: {},
    environment: LONG_QUESTIONS,
    connections: { heldBytes: 24 * MEGABYTE },
    guilty: ({ app, token, held }) => {
      let readers = 0;
      return async () => {
        readers += 1;
        if (readers <= 6)
          held.use(await askAndStall(app, `{ ${longField(UNTAKEN_BYTES)} }`, { token }));
        return (await cuts(app, 'bytes')) > 0;
      };
    },
    kept: BESIDE_A_TOKEN,
  },
];

/** Rows whose bystanders are in orders.test.ts. */
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
  async ({ limits, environment, connections = ROOMY, guilty, kept, ask = readsSession }) => {
    const settings = { TRUSTED_PROXIES: '127.0.0.1', ...environment };
    await using app = await startTestApp(settings, { limits, connections });
    using held = new DisposableStack();
    const stage = { app, held, token: await provedToken(app, VICTIM) };
    const asking = async (innocent: Innocent) => {
      const tokens = await inParallel(ASKED, 2, () => innocent.token(app));
      const by = (at: number) => ({
        token: tokens[at] as string,
        headers: from(innocent.address),
      });
      return async () => {
        const all = await inParallel(ASKED, 2, (at) => (innocent.ask ?? ask)(stage, by(at)));
        return all.filter(Boolean).length;
      };
    };
    const innocents = await Promise.all(
      kept.map(async (name) => {
        const [without, beside] = [await asking(INNOCENTS[name]), await asking(INNOCENTS[name])];
        return { name, beside, calm: await without() };
      }),
    );
    const step = await guilty(stage);
    let refused = 0;
    let isOver = false;
    const flood = inParallel(4, 4, async (worker) => {
      for (let at = 0; at < 2_000 && !isOver; at += 1) {
        if (await step(worker * 10_000 + at).catch(() => true)) refused += 1;
      }
    });
    await eventually(() => refused > 0);
    for (const { name, beside, calm } of innocents) {
      const answered = await beside();
      expect([calm, answered / calm >= 0.95], name).toEqual([ASKED, true]);
    }
    isOver = true;
    await flood;
  },
);
