import { describe, expect, test } from 'vitest';
import { UnauthenticatedError } from '../../src/domain/auth/token-errors.ts';
import { TooManyAttemptsError } from '../../src/domain/auth/trading-limits.ts';
import { judgeOrder } from '../../src/domain/trading/outcome.ts';
import type { Exchange, NoAnswer } from '../../src/gateway/exchange.ts';
import { UnsafePathError } from '../../src/gateway/gateway-error.ts';
import { judgeWrite } from '../../src/gateway/judge.ts';
import { OPERATION_NAMES, OPERATIONS } from '../../src/gateway/operations.ts';
import { type Code, ERROR_CODES } from '../../src/lib/error-codes.ts';
import { InputError } from '../../src/lib/public-error.ts';
import { publicCause } from '../../src/schema/public-cause.ts';
import { RecordsUnavailableError } from '../../src/store/refusals.ts';
import { orderEnd } from '../support/order-end.ts';

/** The effect of a write whose call has ended in an error: certainly none, or unknown. */
type Effect = 'none' | 'unknown';
type Row = readonly [what: string, effect: Effect, Exchange];

const sentAtMs = Date.UTC(2026, 0, 5);
const REASONS: readonly NoAnswer['reason'][] = [
  'timeout',
  'connection',
  'protocol',
  'oversize',
  'encoding',
  'cached',
];
const BODIES = ['{}', '{"success":false}', '{"error":"X","message":"words"}', '<html>', ''];
// With these statuses the gateway has refused the sender or its rate, so it has not carried out the write.
const REFUSING = [401, 403, 429];
const STATUSES = [200, 201, 204, 301, 304, ...REFUSING, 400, 404, 408, 409, 423, 500, 502, 503];

/** All ends of a call, and what each means for a write, as docs/orders.md lists them. */
const ROWS: readonly Row[] = [
  ['never sent', 'none', { sent: false, cause: new Error('refused') }],
  ...REASONS.map(
    (reason): Row => [
      reason,
      'unknown',
      { sent: true, answered: false, reason, cause: null, logicalTime: 1, sentAtMs },
    ],
  ),
  ...STATUSES.flatMap((status) =>
    BODIES.map((body): Row => {
      const effect = REFUSING.includes(status) ? 'none' : 'unknown';
      return [`${status} ${body}`, effect, answered(status, body)];
    }),
  ),
];

function answered(status: number, body: string): Exchange {
  const bytes = Buffer.from(body);
  return { sent: true, answered: true, status, headers: {}, bytes, logicalTime: 1, sentAtMs };
}

function codeOf(judge: () => unknown): Code | null {
  try {
    judge();
    return null;
  } catch (error) {
    return publicCode(error);
  }
}

/** Each write and order except `login`, with the function that judges the end of its call. */
const JUDGED = OPERATION_NAMES.flatMap((operation) => {
  const { effect } = OPERATIONS[operation];
  if (effect === 'read' || operation === 'login') return [];
  const judge = (exchange: Exchange) =>
    operation === 'openPosition' || operation === 'placeLimitOrder'
      ? judgeOrder(operation, orderEnd(exchange))
      : judgeWrite(OPERATIONS[operation], exchange);
  return [[operation, judge] as const];
});

function publicCode(error: unknown): Code {
  return publicCause(error).extensions.code as Code;
}

describe('the table of error codes is right about the effects of a write', () => {
  test.each(JUDGED)('for each outcome of %s', (_operation, judge) => {
    for (const [what, effect, exchange] of ROWS) {
      const code = codeOf(() => judge(exchange));
      if (code !== null) expect(ERROR_CODES[code].write, `${code} of ${what}`).toBe(effect);
    }
  });

  test('for a refusal before the write is sent', () => {
    for (const error of [
      new InputError('input', 'no'),
      new UnsafePathError('key', 'input.key'),
      new UnauthenticatedError('no token was sent'),
      new TooManyAttemptsError(1, 'unknown tokens'),
      new RecordsUnavailableError('full'),
    ]) {
      expect(ERROR_CODES[publicCode(error)].write, error.name).toBe('none');
    }
  });

  test('for the codes that writes never have', () => {
    const codesOf = (judge: (exchange: Exchange) => unknown) =>
      ROWS.map(([, , exchange]) => codeOf(() => judge(exchange)));
    const found = new Set(JUDGED.flatMap(([, judge]) => codesOf(judge)));
    const never = Object.entries(ERROR_CODES).filter(([, { write }]) => write === 'never');
    expect(never.map(([code]) => code)).toEqual([
      'GATEWAY_TIMEOUT',
      'GATEWAY_REFUSED',
      'GATEWAY_CONTRACT',
    ]);
    for (const [code] of never) expect(found.has(code as Code)).toBe(false);
    expect(found).toContain('OUTCOME_UNKNOWN');
  });
});
