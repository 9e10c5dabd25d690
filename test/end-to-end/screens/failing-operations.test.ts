import { beforeEach, describe, expect, test } from 'vitest';
import type { OperationName } from '../../../src/gateway/operations.ts';
import type { Fault } from '../../../src/sandbox/faults.ts';
import { type GraphQLAnswer, startTestApp, type TestApp } from '../../support/app.ts';
import { sharedApp } from '../../support/shared-app.ts';

const LIMITS = { SANDBOX_INSTRUMENTS: '20' };

const app = sharedApp(LIMITS);
/** Starts without a cached catalog, which would be served as stale. */
const withoutCatalog = sharedApp(LIMITS);

beforeEach(() => {
  app.sandbox.reset();
  withoutCatalog.sandbox.reset();
});

const READS = `
  session { login }
  orders { id }
  positions { id }
  withdrawalMethods { title }
  customerId
`;
const SCREEN = `{ ${READS} catalog { group } }`;

// The fields of the screen, by the operation that serves them.
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

const LOCKED = { message: 'Locked until Monday' };

type FaultOf = Omit<Fault, 'operation'>;
type Extensions = Readonly<Record<string, unknown>>;
type Case = readonly [name: string, fault: FaultOf, extensions: Extensions];

const worded = { gatewayError: REDACTED };
const unavailable = { code: 'GATEWAY_UNAVAILABLE', retryable: true };
const contract = { code: 'GATEWAY_CONTRACT', retryable: false };
const limited = { code: 'RATE_LIMITED', retryable: true };
const refused = { code: 'GATEWAY_REFUSED', retryable: false };

/** Headers of a clock that is an hour behind. */
function anHourAgo(inSeconds: number): Readonly<Record<string, string>> {
  const nowMs = Date.now() - 3_600_000;
  const [date, until] = [nowMs, nowMs + inSeconds * 1_000].map((ms) => new Date(ms).toUTCString());
  return { date: date ?? '', 'retry-after': until ?? '' };
}

const status = (code: number, body: unknown = '', headers: Readonly<Record<string, string>> = {}) =>
  ({ kind: 'status', status: code, body, headers }) as const;
/** The service does not wait for a repeat, because these seconds are longer than its deadline. */
const after = (seconds: number) => ({ 'retry-after': String(seconds) });

const CASES: readonly Case[] = [
  ['403', status(403, WORDS), { code: 'FORBIDDEN', retryable: false, ...worded }],
  ['429 for 900 s', status(429, WORDS, after(900)), { ...limited, retryAfter: 900, ...worded }],
  ['429 until a past date', status(429, '', anHourAgo(-90)), { ...limited, retryAfter: 1 }],
  ['429 without a time', status(429), { ...limited, retryAfter: expect.any(Number) }],
  [
    '503 until a date',
    status(503, WORDS, anHourAgo(900)),
    { ...unavailable, retryAfter: 900, ...worded },
  ],
  // The body describes the gateway's internals.
  ['500 with a time', status(500, WORDS, after(1200)), unavailable],
  [
    '423 with the snapshot’s error body',
    status(423, LOCKED),
    { ...refused, gatewayError: { error: null, ...LOCKED } },
  ],
  ['404 with an error body without texts', status(404, { error: 404, message: null }), contract],
  ['408', status(408, WORDS), { code: 'GATEWAY_TIMEOUT', retryable: true }],
  ['garbage', { kind: 'garbage' }, contract],
  ['JSON of another shape', status(200, { entirely: 'different' }), contract],
];
/** Asks with a new token, which has no cache and no proof. */
const ask = ({ sandbox, query }: TestApp, document: string) =>
  query(document, { token: sandbox.token({ email: 'demo@example.com' }) });

/** Only the fields of this operation may be missing. */
function expectMissing(
  operation: keyof typeof FIELDS,
  extensions: Extensions,
  { status, data, errors }: GraphQLAnswer,
) {
  expect(status).toBe(200);
  expect(Object.keys(data).filter((field) => data[field] === null)).toEqual(FIELDS[operation]);
  expect(errors.map(({ path }) => path)).toEqual(FIELDS[operation].map((field) => [field]));
  for (const error of errors) expect(error.extensions).toEqual({ ...extensions, operation });
}

/**
 * The operations for which each case is tested: a plain read, and the catalog, which is read in pieces. The others get one
 * case of each kind.
 */
const WHOLE: ReadonlySet<OperationName> = new Set(['getCustomerId', 'getAllTickers']);
const SOME = CASES.filter(([name]) => /^(403|garbage|JSON of another shape)$/.test(name));

describe.each(SERVING)('%s failing', (operation) => {
  test.each(WHOLE.has(operation) ? CASES : SOME)('with %s', async (_name, fault, extensions) => {
    const world = operation === 'getAllTickers' ? withoutCatalog : app;
    world.sandbox.fail({ ...fault, body: bodyOf(fault, operation), operation });
    expectMissing(operation, extensions, await ask(world, SCREEN));
  });
});

describe('a 401', () => {
  const UNAUTHENTICATED = { code: 'UNAUTHENTICATED', retryable: false };

  test.each(SERVING.filter((operation) => operation !== 'getAllTickers'))(
    'of %s is not attributed to other reads, and ends the token’s proof',
    async (operation) => {
      const { sandbox, query } = app;
      await ask(app, '{ catalog { size } }');
      const token = sandbox.token({ email: 'demo@example.com' });
      sandbox.fail({ operation, kind: 'status', status: 401 });
      expectMissing(operation, UNAUTHENTICATED, await query(`{ ${READS} }`, { token }));
      sandbox.clearCalls();
      // The catalog is in memory. A token without proof is proved by a call of op 10 before it gets the catalog.
      const { data } = await query('{ catalog { group } }', { token });
      const isAccepted = operation !== 'getSession';
      expect(data).toEqual({ catalog: isAccepted ? { group: 'standard-usd' } : null });
      expect(sandbox.calls('getSession')).toBe(1);
      expect(sandbox.calls()).toBe(1);
    },
  );

  test('of the catalog is not attributed to other reads', async () => {
    withoutCatalog.sandbox.fail({ operation: 'getAllTickers', kind: 'status', status: 401 });
    expectMissing('getAllTickers', UNAUTHENTICATED, await ask(withoutCatalog, SCREEN));
  });
});

test('a catalog that times out is waited for once', async () => {
  await using impatient = await startTestApp({ ...LIMITS, GATEWAY_TIMEOUT_MS: '500' });
  impatient.sandbox.fail({ operation: 'getAllTickers', kind: 'delay', delayMs: 600_000 });
  const timeout = { code: 'GATEWAY_TIMEOUT', retryable: true };
  expectMissing('getAllTickers', timeout, await ask(impatient, SCREEN));
  expect(impatient.sandbox.calls('getAllTickers')).toBe(1);
});

test('a token whose snapshot is forbidden can read a cached catalog after op 1 and another accepted call', async () => {
  await ask(app, '{ catalog { size } }');
  app.sandbox.clearCalls();
  app.sandbox.fail({ operation: 'getSession', kind: 'status', status: 403 });
  const alone = await ask(app, '{ instrument(id: "AAPL") { id } }');
  expect(alone.data).toEqual({ instrument: null });
  const { data } = await ask(app, '{ instrument(id: "AAPL") { id } customerId }');
  expect(data.instrument).toEqual({ id: 'AAPL' });
  expect(app.sandbox.calls('getAllTickers')).toBe(1);
});

/** The snapshot may lack any field, so its answer is only wrong with the login of another account. */
function bodyOf({ status, body }: FaultOf, operation: OperationName): unknown {
  return status === 200 && operation === 'getSession' ? { login: 1 } : body;
}
