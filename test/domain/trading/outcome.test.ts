import { describe, expect, test } from 'vitest';
import { judgeOrder } from '../../../src/domain/trading/outcome.ts';
import { GatewayError } from '../../../src/gateway/errors.ts';
import type { Exchange, NoAnswer } from '../../../src/gateway/exchange.ts';

const sentAtMs = Date.UTC(2026, 0, 5);

function answer(status: number, body: unknown, headers: Record<string, string> = {}): Exchange {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    sent: true,
    answered: true,
    status,
    headers,
    bytes: Buffer.from(text),
    logicalTime: 1,
    sentAtMs,
  };
}

function silence(reason: NoAnswer['reason']): Exchange {
  return { sent: true, answered: false, reason, cause: null, logicalTime: 1, sentAtMs };
}

/** The outcome's name, or the kind of the error. */
function judged(exchange: Exchange): string {
  try {
    return judgeOrder('openPosition', exchange).kind;
  } catch (error) {
    if (error instanceof GatewayError) return `error: ${error.kind}`;
    throw error;
  }
}

const yes = { success: true, orderId: 'o-1', message: 'done' };
const no = { success: false, err: 'NO_MONEY', message: 'too little' };

describe('the outcome of an order', () => {
  test.each(['timeout', 'connection', 'oversize', 'aborted', 'encoding'] as const)(
    '2: no whole answer (%s) is unknown',
    (reason) => {
      expect(judgeOrder('openPosition', silence(reason))).toEqual({
        kind: 'unknown',
        sentAtMs,
        message: null,
      });
    },
  );

  test.each([301, 400, 401, 403, 408, 422, 429, 500, 503])(
    '3: success with status %i is unknown, before any refusal',
    (status) => {
      expect(judged(answer(status, yes))).toBe('unknown');
    },
  );

  test.each([200, 201, 202, 226, 299])('4: status %i is judged by its success field', (status) => {
    expect(judgeOrder('placeLimitOrder', answer(status, yes))).toEqual({
      kind: 'accepted',
      orderId: 'o-1',
      message: 'done',
    });
    expect(judgeOrder('placeLimitOrder', answer(status, no))).toEqual({
      kind: 'rejected',
      error: 'NO_MONEY',
      message: 'too little',
    });
  });

  test.each([
    [401, 'unauthenticated'],
    [403, 'forbidden'],
    [429, 'rate-limited'],
  ])('5: status %i is an error, whatever else its body says', (status, kind) => {
    expect(judged(answer(status, { error: 'X' }))).toBe(`error: ${kind}`);
    expect(judged(answer(status, no))).toBe(`error: ${kind}`);
    expect(judged(answer(status, {}))).toBe(`error: ${kind}`);
    expect(judged(answer(status, '<html>'))).toBe(`error: ${kind}`);
  });

  test.each([200, 201, 302, 400, 401, 403, 404, 408, 409, 429, 499, 500, 503])(
    '3: a refusal with status %i that names an order is unknown, and says which',
    (status) => {
      for (const [body, message] of [
        ['{"success":false,"orderId":"55"}', 'The gateway named the order 55.'],
        ['{"orderId":"5","message":"m"}', 'm (The gateway named the order 5.)'],
        [
          '{"error":"X","orderId":9007199254740993}',
          'The gateway named the order 9007199254740993.',
        ],
        ['{"orderId":7}', 'The gateway named the order 7.'],
        ['{"orderId":"A-7"}', 'The gateway named the order A-7.'],
        [`{"orderId":"${'7'.repeat(256)}"}`, 'The gateway named an order.'],
        ['{"orderId":1e400}', 'The gateway named an order.'],
      ] as const) {
        expect(judgeOrder('openPosition', answer(status, body))).toEqual({
          kind: 'unknown',
          sentAtMs,
          message,
        });
      }
    },
  );

  test.each(['""', '"0"', '"00"', '0', '-0', '" "', 'null', '{}', '[]', 'false'])(
    'a refusal with the order number %s is a refusal',
    (orderId) => {
      for (const [status, expected] of [
        [200, 'rejected'],
        [409, 'rejected'],
        [401, 'error: unauthenticated'],
        [403, 'error: forbidden'],
        [429, 'error: rate-limited'],
      ] as const) {
        const body = `{"success":false,"orderId":${orderId}}`;
        expect(judged(answer(status, body))).toBe(expected);
      }
    },
  );

  test.each([
    ['55', '55'],
    ['9007199254740993', '9007199254740993'],
    ['"55"', '55'],
    ['1e400', null],
  ])('4: the order number %s of an accepted order is %s', (orderId, expected) => {
    const body = `{"success":true,"orderId":${orderId}}`;
    expect(judgeOrder('openPosition', answer(200, body))).toMatchObject({ orderId: expected });
  });

  test.each([400, 402, 404, 418, 422, 451, 499])(
    '6: status %i is rejected, whatever its body',
    (status) => {
      for (const body of [no, {}, '', '<html>', '[]', { success: 'true' }, { success: null }]) {
        expect(judged(answer(status, body))).toBe('rejected');
      }
    },
  );

  test('6: status 409 is rejected where its body says so itself', () => {
    expect(judged(answer(409, no))).toBe('rejected');
  });

  test.each([
    [409, {}],
    [409, { error: 'DUPLICATE' }],
    [409, { success: 'false' }],
    [409, '<html>'],
    [200, {}],
    [201, {}],
    [204, ''],
    [200, '<html>'],
    [200, '[{"success":true}]'],
    [200, 'true'],
    [200, '{"success":true'],
    [200, { success: 'true' }],
    [200, { success: 1 }],
    [200, { success: null }],
    [302, no],
    [304, ''],
    [408, no],
    [408, {}],
    [500, no],
    [502, '<html>'],
    [503, {}],
    [600, no],
  ])('7: status %i with %o is unknown', (status, body) => {
    expect(judged(answer(status, body))).toBe('unknown');
  });

  test('a page in place of a message is cut, half an order id is dropped', () => {
    const long = 'x'.repeat(1_000_000);
    const accepted = judgeOrder('openPosition', answer(200, { ...yes, orderId: long }));
    expect(accepted).toEqual({ kind: 'accepted', orderId: null, message: 'done' });
    const longest = 'x'.repeat(255);
    expect(judgeOrder('openPosition', answer(200, { ...yes, orderId: longest }))).toMatchObject({
      orderId: longest,
    });
    for (const length of [500, 501]) {
      const { message } = judgeOrder('openPosition', answer(400, { message: 'x'.repeat(length) }));
      expect(message).toBe(`${'x'.repeat(500)}${length > 500 ? '…' : ''}`);
    }
  });
});
