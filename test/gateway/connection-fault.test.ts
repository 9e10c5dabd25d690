import { expect, test } from 'vitest';
import { connectionFault } from '../../src/gateway/connection-fault.ts';

const faultOf = (cause: unknown) => connectionFault('connect', { sent: false, cause });
const error = (code: unknown, cause?: unknown) => Object.assign(new Error('', { cause }), { code });

/** Its innermost error is so many causes away. */
function nested(depth: number, innermost: unknown): unknown {
  return depth === 0 ? innermost : error('UND_ERR', nested(depth - 1, innermost));
}

test('the first code of the set counts, from the outside in', () => {
  expect(faultOf(error('ENOTFOUND'))).toBe('ENOTFOUND');
  expect(faultOf(error('UND_ERR_SOCKET', error('ECONNRESET')))).toBe('UND_ERR_SOCKET');
  expect(faultOf(error(undefined, error('EPROTO', error('ECONNRESET'))))).toBe('ERR_SSL');
  expect(faultOf(nested(3, error('CERT_HAS_EXPIRED')))).toBe('CERT_HAS_EXPIRED');
});

test('what has none is another one: an unknown code, none at all, no error, and a circle', () => {
  const circle = error('UNHEARD_OF');
  circle.cause = circle;
  for (const cause of [circle, error(7), error('EPROTOTYPE'), { code: 'EPIPE' }, 'EPIPE', null]) {
    expect(faultOf(cause)).toBe('other');
  }
  expect(faultOf(nested(4, error('CERT_HAS_EXPIRED')))).toBe('other');
});

test('a connection that was not lost has no fault, whatever is said of it', () => {
  const exchange = { sent: false, cause: error('ECONNREFUSED') } as const;
  for (const outcome of ['timeout', '5xx', 'cancelled', 'ok'] as const) {
    expect(connectionFault(outcome, exchange)).toBeNull();
  }
  expect(connectionFault('reset', exchange)).toBe('ECONNREFUSED');
});
