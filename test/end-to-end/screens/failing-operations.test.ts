import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { OperationName } from '../../../src/gateway/operations.ts';
import type { Fault } from '../../../src/sandbox/faults.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';

const LIMITS = {
  GATEWAY_MAX_BYTES: '1000000',
  CATALOG_MAX_BYTES: '5000000',
  SANDBOX_INSTRUMENTS: '20',
};

let app: TestApp;
/** Starts without any cached catalog, which would be served as stale-if-error. */
let withoutCatalog: TestApp;

beforeAll(async () => {
  app = await startTestApp(LIMITS);
  withoutCatalog = await startTestApp(LIMITS);
});
beforeEach(() => {
  app.sandbox.reset();
  withoutCatalog.sandbox.reset();
});
afterAll(() => Promise.all([app.close(), withoutCatalog.close()]));

const READS = `
  session { login }
  orders { id }
  positions { id }
  withdrawalMethods { title }
  customerId
`;
const SCREEN = `{ ${READS} catalog { group } }`;

// The fields of the screen that each operation serves.
const FIELDS = {
  getSession: ['session', 'orders'],
  getOpenPositions: ['positions'],
  getWithdrawalMethods: ['withdrawalMethods'],
  getCustomerId: ['customerId'],
  getAllTickers: ['catalog'],
} satisfies Partial<Record<OperationName, readonly string[]>>;
const SERVING = Object.keys(FIELDS) as (keyof typeof FIELDS)[];

const WORDS = {
  error: 'RESTRICTED',
  message: `Account 123456789 of jane@example.com is restricted, see Bearer abc.def or
eyJhbGciOiJIUzI1NiJ9.eyJsb2dpbiI6MX0.c2lnbmF0dXJl`,
  details: { phone: '+49 151 12345678' },
};
const REDACTED = {
  error: 'RESTRICTED',
  message: 'Account […] of […] is restricted, see Bearer […] or\n[…]',
};

interface Case {
  readonly name: string;
  readonly fault: Omit<Fault, 'operation'>;
  readonly extensions: Readonly<Record<string, unknown>>;
}

const unavailable = { code: 'GATEWAY_UNAVAILABLE', retryable: true };
const contract = { code: 'GATEWAY_CONTRACT', retryable: false };
const timeout = { code: 'GATEWAY_TIMEOUT', retryable: true };

/** By a clock that is an hour behind. */
function anHourAgo(inSeconds: number): Readonly<Record<string, string>> {
  const nowMs = Date.now() - 3_600_000;
  const [date, until] = [nowMs, nowMs + inSeconds * 1_000].map((ms) => new Date(ms).toUTCString());
  return { date: date ?? '', 'retry-after': until ?? '' };
}

const CASES: readonly Case[] = [
  {
    name: '403 with words',
    fault: { kind: 'status', status: 403, body: WORDS },
    extensions: { code: 'FORBIDDEN', retryable: false, gatewayError: REDACTED },
  },
  {
    name: '403 without words',
    fault: { kind: 'status', status: 403, body: '' },
    extensions: { code: 'FORBIDDEN', retryable: false },
  },
  {
    name: '429 that says how long',
    fault: { kind: 'status', status: 429, body: WORDS, headers: { 'retry-after': '90' } },
    // Longer than the deadline, or it would be waited for.
    extensions: { code: 'RATE_LIMITED', retryable: true, retryAfter: 90, gatewayError: REDACTED },
  },
  {
    name: '429 until a date by a clock that is an hour behind',
    fault: { kind: 'status', status: 429, body: '', headers: anHourAgo(90) },
    extensions: { code: 'RATE_LIMITED', retryable: true, retryAfter: 90 },
  },
  {
    name: '429 until a moment that has passed',
    fault: { kind: 'status', status: 429, body: '', headers: anHourAgo(-90) },
    extensions: { code: 'RATE_LIMITED', retryable: true, retryAfter: 1 },
  },
  {
    name: '503 that says how long',
    fault: { kind: 'status', status: 503, body: '', headers: { 'retry-after': '120' } },
    extensions: { ...unavailable, retryAfter: 120 },
  },
  {
    name: '503 until a date by a clock that is an hour behind',
    fault: { kind: 'status', status: 503, body: '', headers: anHourAgo(90) },
    extensions: { ...unavailable, retryAfter: 90 },
  },
  {
    name: '500 that says how long',
    fault: { kind: 'status', status: 500, body: '', headers: { 'retry-after': '120' } },
    extensions: unavailable,
  },
  {
    name: '429 that does not',
    fault: { kind: 'status', status: 429, body: { error: 'SLOW_DOWN' } },
    extensions: {
      code: 'RATE_LIMITED',
      retryable: true,
      retryAfter: expect.any(Number),
      gatewayError: { error: 'SLOW_DOWN', message: null },
    },
  },
  ...[400, 404, 409, 422, 423, 451].map((status) => ({
    name: `${status} with words`,
    fault: { kind: 'status', status, body: WORDS } as const,
    extensions: { code: 'GATEWAY_REFUSED', retryable: false, gatewayError: REDACTED },
  })),
  {
    name: '423 with the snapshot’s error body',
    fault: { kind: 'status', status: 423, body: { message: 'Locked until Monday' } },
    extensions: {
      code: 'GATEWAY_REFUSED',
      retryable: false,
      gatewayError: { error: null, message: 'Locked until Monday' },
    },
  },
  {
    name: '404 with an error body of no words',
    fault: { kind: 'status', status: 404, body: { error: 404, message: null } },
    extensions: contract,
  },
  {
    name: '408 with words',
    fault: { kind: 'status', status: 408, body: WORDS },
    extensions: timeout,
  },
  // What stands there is about the gateway's inside.
  ...[500, 502, 504].map((status) => ({
    name: `${status} with words`,
    fault: { kind: 'status', status, body: WORDS } as const,
    extensions: unavailable,
  })),
  {
    name: '503 with words',
    fault: { kind: 'status', status: 503, body: WORDS },
    extensions: { ...unavailable, gatewayError: REDACTED },
  },
  {
    name: '503 with a page of HTML',
    fault: {
      kind: 'status',
      status: 503,
      body: '<h1>Maintenance</h1>',
      headers: { 'content-type': 'text/html' },
    },
    extensions: unavailable,
  },
  {
    name: '503 without words',
    fault: { kind: 'status', status: 503, body: '' },
    extensions: unavailable,
  },
  { name: 'a reset', fault: { kind: 'reset-before' }, extensions: unavailable },
  { name: 'half an answer', fault: { kind: 'cut' }, extensions: unavailable },
  { name: 'garbage', fault: { kind: 'garbage' }, extensions: contract },
  { name: 'an empty body', fault: { kind: 'empty' }, extensions: contract },
  { name: 'a page of HTML', fault: { kind: 'html' }, extensions: contract },
  { name: 'a redirect', fault: { kind: 'redirect' }, extensions: contract },
  { name: 'too many bytes', fault: { kind: 'oversize', bytes: 20_000_000 }, extensions: contract },
  {
    name: 'a few bytes that unpack to too many',
    fault: { kind: 'gzip-bomb', bytes: 20_000_000 },
    extensions: contract,
  },
  {
    name: 'JSON of another shape',
    fault: { kind: 'status', status: 200, body: { entirely: 'different' } },
    extensions: contract,
  },
];

const SLOW_CASES: readonly Case[] = [
  { name: 'silence', fault: { kind: 'hang' }, extensions: timeout },
  { name: 'a byte at a time', fault: { kind: 'drip', delayMs: 1_000 }, extensions: timeout },
];

/** One screen, of which nothing but the fields of this operation may be missing. */
async function expectFailure(
  { sandbox, query }: TestApp,
  operation: keyof typeof FIELDS,
  { fault, extensions }: Case,
) {
  // A new token each time: nothing is cached for it, and it is not proved.
  const token = sandbox.token({ email: 'demo@example.com' });
  sandbox.fail({ ...fault, body: bodyOf(fault, operation), operation });

  const { status, data, errors } = await query(SCREEN, { token });

  expect(status).toBe(200);
  const empty = Object.keys(data).filter((field) => data[field] === null);
  expect(empty).toEqual(FIELDS[operation]);
  expect(errors.map(({ path }) => path)).toEqual(FIELDS[operation].map((field) => [field]));
  for (const error of errors) expect(error.extensions).toEqual({ ...extensions, operation });
  expect(sandbox.requests().map(({ path }) => path)).not.toContain('/sandbox/redirected');
}

/** Each case for a plain read and for the catalog, which is read in pieces; for the others one of each kind. */
const WHOLE: ReadonlySet<OperationName> = new Set(['getCustomerId', 'getAllTickers']);
const KINDS = [
  ...Map.groupBy(CASES, ({ fault: { kind, status } }) => `${kind} ${status}`).values(),
];
const ONE_OF_EACH = KINDS.flatMap((cases) => cases.slice(0, 1));

describe.each(SERVING)('%s failing', (operation) => {
  test.each(WHOLE.has(operation) ? CASES : ONE_OF_EACH)('with $name', async (failing) => {
    await expectFailure(operation === 'getAllTickers' ? withoutCatalog : app, operation, failing);
  });
});

// Each has a service of its own: they wait for its deadlines at the same time.
test.concurrent.each(
  SERVING.flatMap((operation) => SLOW_CASES.map((failing) => ({ operation, ...failing }))),
)('$operation failing with $name', async ({ operation, ...failing }) => {
  const deadlines = { GATEWAY_TIMEOUT_MS: '4000', CATALOG_TIMEOUT_MS: '4000' };
  await using impatient = await startTestApp({ ...LIMITS, ...deadlines });
  await expectFailure(impatient, operation, failing);
});

describe('a 401', () => {
  const UNAUTHENTICATED = { code: 'UNAUTHENTICATED', retryable: false };
  const OTHERS = [
    'getSession',
    'getOpenPositions',
    'getWithdrawalMethods',
    'getCustomerId',
  ] as const;

  test.each(OTHERS)(
    'of %s is not taken as an answer to the reads beside it, and ends their proof',
    async (operation) => {
      const { sandbox, query } = app;
      await query('{ catalog { size } }', { token: sandbox.token({ email: 'demo@example.com' }) });
      const token = sandbox.token({ email: 'demo@example.com' });
      sandbox.fail({ operation, kind: 'status', status: 401 });
      const { data, errors } = await query(`{ ${READS} }`, { token });
      const empty = Object.keys(data).filter((field) => data[field] === null);
      expect(empty).toEqual(FIELDS[operation]);
      for (const { extensions } of errors) {
        expect(extensions).toEqual({ ...UNAUTHENTICATED, operation });
      }
      sandbox.clearCalls();
      const after = await query('{ catalog { group } }', { token });
      expect(after.data).toEqual({ catalog: null });
      expect(after.errors[0]?.extensions).toMatchObject(UNAUTHENTICATED);
      expect(sandbox.calls()).toBe(0);
    },
  );

  test('of the catalog itself is not taken as an answer to the reads beside it', async () => {
    const { sandbox, query } = withoutCatalog;
    sandbox.fail({ operation: 'getAllTickers', kind: 'status', status: 401 });
    const token = sandbox.token({ email: 'demo@example.com' });
    const { data, errors } = await query(SCREEN, { token });
    expect(Object.keys(data).filter((field) => data[field] === null)).toEqual(['catalog']);
    expect(errors.map(({ extensions }) => extensions)).toEqual([
      { ...UNAUTHENTICATED, operation: 'getAllTickers' },
    ]);
  });
});

test('a catalog that times out is waited for once', async () => {
  await using impatient = await startTestApp({ ...LIMITS, CATALOG_TIMEOUT_MS: '1000' });
  const { sandbox, query } = impatient;
  sandbox.fail({ operation: 'getAllTickers', kind: 'hang' });
  const token = sandbox.token({ email: 'demo@example.com' });
  await query(SCREEN, { token });
  expect(sandbox.calls('getAllTickers')).toBe(1);
});

test('a cached catalog opens to a token whose snapshot is forbidden, by its own call of op 1', async () => {
  const { sandbox, query } = app;
  await query('{ catalog { size } }', { token: sandbox.token({ email: 'demo@example.com' }) });
  sandbox.clearCalls();
  sandbox.fail({ operation: 'getSession', kind: 'status', status: 403 });
  const document = '{ instrument(id: "AAPL") { id } }';
  const { data } = await query(document, { token: sandbox.token({ email: 'demo@example.com' }) });
  expect(data).toEqual({ instrument: { id: 'AAPL' } });
  expect(sandbox.calls('getAllTickers')).toBe(1);
});

/** A snapshot may lack any field; only another login makes it another account's. */
function bodyOf({ status, body }: Omit<Fault, 'operation'>, operation: OperationName): unknown {
  return status === 200 && operation === 'getSession' ? { login: 1 } : body;
}
