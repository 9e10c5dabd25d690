import { expect, test } from 'vitest';
import { judgeOrder } from '../../../src/domain/trading/outcome.ts';
import type { Exchange, NoAnswer } from '../../../src/gateway/exchange.ts';
import { GatewayError } from '../../../src/gateway/gateway-error.ts';
import { SUBMITTED } from '../../../src/gateway/operations/submitted.ts';
import { onWire } from '../../support/ask-gateway.ts';
import { orderEnd } from '../../support/order-end.ts';

const sentAtMs = Date.UTC(2026, 0, 5);

function answer(status: number, body: unknown): Exchange {
  const json = typeof body === 'string' ? body : JSON.stringify(body);
  const bytes = Buffer.from(onWire(SUBMITTED, json));
  return { sent: true, answered: true, status, headers: {}, bytes, logicalTime: 1, sentAtMs };
}

function noAnswer(reason: NoAnswer['reason']): Exchange {
  return { sent: true, answered: false, reason, cause: null, logicalTime: 1, sentAtMs };
}

/** The outcome's kind, or the kind of the error. */
function judged(exchange: Exchange): string {
  try {
    return judgeOrder('openPosition', orderEnd(exchange)).kind;
  } catch (error) {
    if (error instanceof GatewayError) return `error: ${error.kind}`;
    throw error;
  }
}

const yes = { success: true, orderId: 'o-1', message: 'done' };
const no = { success: false, error: 'NO_MONEY', message: 'too little' };

type Row = [answers: string, statuses: number[], bodies: unknown[], verdict: string];

// Each name begins with the number of its row in the table of docs/orders.md.
test.each<Row>([
  [
    '3: `success: true` with a status other than 2xx',
    [301, 400, 401, 403, 408, 422, 429, 500, 503],
    [yes],
    'unknown',
  ],
  ['4: a 2xx with `success: true`', [200, 202, 299], [yes], 'accepted'],
  ['4: a 2xx with `success: false`', [200, 202, 299], [no], 'rejected'],
  ['5: a 401', [401], [no, { error: 'X' }, {}, '<html>'], 'error: unauthenticated'],
  ['5: a 403', [403], [no, { error: 'X' }, {}, '<html>'], 'error: forbidden'],
  ['5: a 429', [429], [no, { error: 'X' }, {}, '<html>'], 'error: rate-limited'],
  [
    '6: another 4xx with any body',
    [400, 402, 404, 418, 422, 451],
    [no, {}, '', '<html>', '[]', { success: 'true' }, { success: null }],
    'rejected',
  ],
  ['6: a 409 with `success: false`', [409], [no], 'rejected'],
  [
    '7: a 409 without `success: false`',
    [409],
    [{}, { error: 'DUPLICATE' }, { success: 'false' }, '<html>'],
    'unknown',
  ],
  [
    '7: a 2xx without a boolean `success`',
    [200, 201, 204],
    [
      // Lists are spread so that several values stay on one line.
      ...[{}, '', '<html>', '[{"success":true}]', 'true', '{"success":true'],
      ...[{ success: 'true' }, { success: 1 }, { success: null }],
    ],
    'unknown',
  ],
  [
    '7: any other status',
    [302, 304, 408, 499, 500, 502, 503, 600],
    [no, {}, '', '<html>'],
    'unknown',
  ],
])('%s is judged as its row of the table states', (_answers, statuses, bodies, verdict) => {
  for (const status of statuses) {
    for (const body of bodies) {
      expect(judged(answer(status, body)), `${status}: ${JSON.stringify(body)}`).toBe(verdict);
    }
  }
});

test('an outcome has the number and the message of its answer', () => {
  const [accepted, rejected] = [yes, no].map((body) =>
    judgeOrder('placeLimitOrder', orderEnd(answer(200, body))),
  );
  expect(accepted).toEqual({ kind: 'accepted', orderId: 'o-1', message: 'done' });
  expect(rejected).toEqual({ kind: 'rejected', error: 'NO_MONEY', message: 'too little' });
  for (const reason of ['timeout', 'connection', 'oversize', 'encoding', 'cached'] as const) {
    const unknown = judgeOrder('openPosition', orderEnd(noAnswer(reason)));
    expect(unknown, reason).toEqual({ kind: 'unknown', sentAtMs, message: null });
  }
});

test.each([
  ['{"success":false,"orderId":"55"}', 'The gateway named the order 55.'],
  ['{"orderId":"5","message":"m"}', 'm (The gateway named the order 5.)'],
  ['{"error":"X","orderId":9007199254740993}', 'The gateway named the order 9007199254740993.'],
  ['{"orderId":"5","message":""}', 'The gateway named the order 5.'],
  ['{"orderId":"A-7"}', 'The gateway named the order A-7.'],
  [`{"orderId":"${'7'.repeat(256)}"}`, 'The gateway named an order.'],
  ['{"orderId":1e400}', 'The gateway named an order.'],
])('3: the refusal %s names an order, so the outcome is unknown and names it', (body, message) => {
  for (const status of [200, 201, 302, 400, 401, 403, 404, 408, 409, 429, 500]) {
    const unknown = { kind: 'unknown', sentAtMs, message };
    expect(judgeOrder('openPosition', orderEnd(answer(status, body)))).toEqual(unknown);
  }
});

const ZERO_UUID = '"00000000-0000-0000-0000-000000000000"';
const NO_NUMBERS = ['""', '"0"', '"00"', '0', '-0', '" "', 'null', '{}', '[]', 'false'];

test.each([...NO_NUMBERS, '"-"', '"null"', ZERO_UUID])(
  'the order number %s counts as missing',
  (orderId) => {
    const acceptance = `{"success":true,"orderId":${orderId}}`;
    expect(judgeOrder('openPosition', orderEnd(answer(200, acceptance)))).toMatchObject({
      orderId: null,
    });
    // A refusal that names an order would be unknown.
    const refusal = `{"success":false,"orderId":${orderId}}`;
    const verdicts = [200, 409, 401, 403, 429].map((status) => judged(answer(status, refusal)));
    expect(verdicts).toEqual([
      'rejected',
      'rejected',
      'error: unauthenticated',
      'error: forbidden',
      'error: rate-limited',
    ]);
  },
);

test.each([
  ['55', '55'],
  ['9007199254740993', '9007199254740993'],
  ['1e400', null],
  // A truncated id would name another order.
  [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
  [`"${'x'.repeat(256)}"`, null],
])('4: the order number %s of an accepted order is %s', (orderId, expected) => {
  const body = `{"success":true,"orderId":${orderId}}`;
  expect(judgeOrder('openPosition', orderEnd(answer(200, body)))).toMatchObject({
    orderId: expected,
  });
});

test('a message is cut after 500 characters', () => {
  const longest = 'x'.repeat(500);
  for (const [message, expected] of [
    [longest, longest],
    [`${longest}x`, `${longest}…`],
  ]) {
    const outcome = judgeOrder('openPosition', orderEnd(answer(400, { message })));
    expect(outcome.message).toBe(expected);
  }
});
