import { beforeEach, describe, expect, test } from 'vitest';
import { errorBody } from '../../../src/gateway/operations/conventions.ts';
import type { OperationName } from '../../../src/gateway/operations.ts';
import type { Fault } from '../../../src/sandbox/faults.ts';
import { sessionWith } from '../../gateway/wire/rows.ts';
import { type GraphQLAnswer, startTestApp, type TestApp } from '../../support/app.ts';
import { sharedApp } from '../../support/shared-app.ts';

const LIMITS = { SANDBOX_INSTRUMENTS: '20' };

const app = sharedApp(LIMITS);
/** A service without a cached catalog, which would be served as stale while the catalog fails. */
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
const OPERATIONS = Object.keys(FIELDS) as (keyof typeof FIELDS)[];

/** An error of the gateway with personal data, and the part of it that clients get. */
const ERROR = {
  error: 'RESTRICTED',
  message: `Account 123456789 of jane@example.com is restricted, see Bearer abc.def or
eyJhbGciOiJIUzI1NiJ9.eyJsb2dpbiI6MX0.c2lnbmF0dXJl`,
  details: { phone: '+49 151 12345678' },
};
const ERROR_BODY = errorBody('details', ERROR);
const REDACTED = {
  error: 'RESTRICTED',
  message: 'Account […] of […] is restricted, see Bearer […] or\n[…]',
};

const LOCKED = { message: 'Locked until Monday' };

type AnyFault = Omit<Fault, 'operation'>;
type Extensions = Readonly<Record<string, unknown>>;
type Case = readonly [name: string, fault: AnyFault, extensions: Extensions];

const redacted = { gatewayError: REDACTED };
const unavailable = { code: 'GATEWAY_UNAVAILABLE', retryable: true };
const contract = { code: 'GATEWAY_CONTRACT', retryable: false };
const limited = { code: 'RATE_LIMITED', retryable: true };
const refused = { code: 'GATEWAY_REFUSED', retryable: false };

/** Headers of a gateway whose clock is an hour behind. Its `retry-after` is this many seconds after its `date`. */
function retryAfterDate(seconds: number): Readonly<Record<string, string>> {
  const nowMs = Date.now() - 3_600_000;
  const textOf = (ms: number) => new Date(ms).toUTCString();
  return { date: textOf(nowMs), 'retry-after': textOf(nowMs + seconds * 1_000) };
}

const status = (code: number, body: unknown = '', headers: Readonly<Record<string, string>> = {}) =>
  ({ kind: 'status', status: code, body, headers }) as const;
/** A `retry-after` beyond the service's own deadline, so that the service does not repeat the request. */
const after = (seconds: number) => ({ 'retry-after': String(seconds) });

const CASES: readonly Case[] = [
  ['403', status(403, ERROR_BODY), { code: 'FORBIDDEN', retryable: false, ...redacted }],
  [
    '429 for 900 s',
    status(429, ERROR_BODY, after(900)),
    { ...limited, retryAfter: 900, ...redacted },
  ],
  ['429 until a past date', status(429, '', retryAfterDate(-90)), { ...limited, retryAfter: 1 }],
  ['429 without a time', status(429), { ...limited, retryAfter: expect.any(Number) }],
  [
    '503 until a date',
    status(503, ERROR_BODY, retryAfterDate(900)),
    { ...unavailable, retryAfter: 900, ...redacted },
  ],
  // Clients do not get this body, because it describes the gateway's internals.
  ['500 with a time', status(500, ERROR_BODY, after(1200)), unavailable],
  [
    '423 with the snapshot’s error body',
    status(423, errorBody('message', { error: '', ...LOCKED })),
    { ...refused, gatewayError: { error: null, ...LOCKED } },
  ],
  ['404 with an error body without texts', status(404, { error: 404, message: null }), contract],
  ['408', status(408, ERROR_BODY), { code: 'GATEWAY_TIMEOUT', retryable: true }],
  ['garbage', { kind: 'garbage' }, contract],
  ['JSON of another shape', status(200, { entirely: 'different' }), contract],
];

/** Asks with a new token, which has no cached reads and no proof. */
const ask = ({ sandbox, query }: TestApp, document: string) =>
  query(document, { token: sandbox.token({ email: 'demo@example.com' }) });

/** Expects that exactly the fields of this operation are null, each with an error. */
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
 * The operations for which each case is tested: a plain read, and the catalog, which is read in pieces. The other operations
 * get a few cases.
 */
const FULLY_TESTED: ReadonlySet<OperationName> = new Set(['getCustomerId', 'getAllTickers']);
const FEW_CASES = CASES.filter(([name]) => /^(403|garbage|JSON of another shape)$/.test(name));

describe.each(OPERATIONS)('if %s fails, only its fields are missing:', (operation) => {
  const cases = FULLY_TESTED.has(operation) ? CASES : FEW_CASES;

  test.each(cases)('%s', async (_name, fault, extensions) => {
    const service = operation === 'getAllTickers' ? withoutCatalog : app;
    service.sandbox.fail({ ...fault, body: bodyOf(fault, operation), operation });
    expectMissing(operation, extensions, await ask(service, SCREEN));
  });
});

test('a catalog that times out is requested only once', async () => {
  // The other reads are answered in time even on a busy machine.
  await using impatient = await startTestApp({ ...LIMITS, GATEWAY_TIMEOUT_MS: '1000' });
  impatient.sandbox.fail({ operation: 'getAllTickers', kind: 'delay', delayMs: 600_000 });
  const timeout = { code: 'GATEWAY_TIMEOUT', retryable: true };
  expectMissing('getAllTickers', timeout, await ask(impatient, SCREEN));
  expect(impatient.sandbox.calls('getAllTickers')).toBe(1);
});

test('a token whose snapshot is forbidden can read a cached catalog after two other accepted calls', async () => {
  await ask(app, '{ catalog { size } }');
  app.sandbox.clearCalls();
  app.sandbox.fail({ operation: 'getSession', kind: 'status', status: 403 });
  const alone = await ask(app, '{ instrument(id: "AAPL") { id } }');
  expect(alone.data).toEqual({ instrument: null });
  const { data } = await ask(app, '{ instrument(id: "AAPL") { id } customerId }');
  expect(data.instrument).toEqual({ id: 'AAPL' });
  expect(app.sandbox.calls('getAllTickers')).toBe(1);
});

/** The snapshot may lack any field, so only the login of another account makes its shape wrong. */
function bodyOf({ status, body }: AnyFault, operation: OperationName): unknown {
  return status === 200 && operation === 'getSession' ? sessionWith({ login: 1 }) : body;
}
