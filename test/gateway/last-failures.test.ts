import { expect, test } from 'vitest';
import type { CallOutcome } from '../../src/gateway/caller.ts';
import type { WireCall } from '../../src/gateway/exchange.ts';
import { LastFailures } from '../../src/gateway/last-failures.ts';
import { OPERATIONS, type OperationName } from '../../src/gateway/operations.ts';

const callOf = (operation: OperationName) =>
  ({ operation, row: OPERATIONS[operation] }) as object as WireCall;
const call = callOf('getSession');
const error = (code: unknown, cause?: unknown) => Object.assign(new Error('', { cause }), { code });

/** Its innermost error is so many causes away. */
function nested(depth: number, innermost: unknown): unknown {
  return depth === 0 ? innermost : error('UND_ERR', nested(depth - 1, innermost));
}

const circle = error('UNHEARD_OF');
circle.cause = circle;

test.each([
  ['the innermost code', error('UND_ERR_SOCKET', error('ECONNRESET')), 'ECONNRESET'],
  ['a code three causes away', nested(3, error('CERT_HAS_EXPIRED')), 'CERT_HAS_EXPIRED'],
  ['no cause that is deeper', nested(4, error('CERT_HAS_EXPIRED')), 'UND_ERR'],
  ['its code in a circle of causes', circle, 'UNHEARD_OF'],
  ['its outcome without an error', { code: 'EPIPE' }, 'connect'],
])('a lost connection is named by %s', (_, cause, named) => {
  const failures = new LastFailures();
  failures.saw(call, 'connect', { sent: false, cause });
  expect(failures.of('reads')).toEqual({ cause: named });
});

test('a failure is remembered until its operation succeeds, and orders without one have that of the reads', () => {
  const failures = new LastFailures();
  const end = (operation: OperationName, outcome: CallOutcome) =>
    failures.saw(callOf(operation), outcome, { sent: false, cause: error('ECONNREFUSED') });
  end('openPosition', 'connect');
  end('openPosition', 'ok');
  end('getSession', 'timeout');
  end('getOpenPositions', 'ok');
  expect(failures.of('reads')).toEqual({ cause: 'timeout' });
  expect(failures.of('orders')).toEqual({ cause: 'timeout' });
  end('placeLimitOrder', '5xx');
  expect(failures.of('orders')).toEqual({ cause: '5xx' });
  end('getSession', 'ok');
  expect(failures.of('reads')).toBeUndefined();
});
