import { expect, test } from 'vitest';
import { callOutcome } from '../../src/gateway/classify.ts';
import type { Exchange, WireCall } from '../../src/gateway/exchange.ts';
import { LastFailures } from '../../src/gateway/last-failures.ts';
import type { OperationName } from '../../src/gateway/operations.ts';

const callOf = (operation: OperationName): WireCall => ({
  ...{ operation, path: '/', headers: [], body: null, deadlineMs: 1, maxBytes: 1 },
  caller: { token: null },
});

function open() {
  const failures = new LastFailures('https://gateway.example.com/api');
  return {
    failures,
    end(operation: OperationName, exchange: Exchange) {
      const call = callOf(operation);
      failures.saw(call, callOutcome(call, exchange), exchange);
    },
  };
}

const unsent = (code: string, more = {}): Exchange => ({
  sent: false,
  cause: Object.assign(new Error(code), { code, ...more }),
});
const answered = (status: number, body = ''): Exchange => ({
  ...{ sent: true, answered: true, sequence: 1, sentAtMs: 0, status },
  headers: { 'content-type': 'application/json' },
  bytes: Buffer.from(body),
});

test('the newest failure of a backend is remembered, with the address that was tried', () => {
  const { failures, end } = open();
  expect(failures.of('reads')).toBeUndefined();
  end('getSession', unsent('ECONNREFUSED', { address: '10.0.0.7', port: 443 }));
  expect(failures.of('reads')).toEqual({ cause: 'ECONNREFUSED', tried: '10.0.0.7:443' });
  end('getOpenPositions', unsent('EMFILE'));
  expect(failures.of('reads')).toEqual({ cause: 'EMFILE', tried: 'gateway.example.com' });
  end('getSession', unsent('EACCES', { address: '/run/socket' }));
  expect(failures.of('reads')).toEqual({ cause: 'other', tried: '/run/socket' });
  expect(failures.of('payments')).toBeUndefined();
});

test('what the gateway says with a 5xx is remembered, and what is no failure of its is not', () => {
  const { failures, end } = open();
  end('getCustomerId', answered(500, '{"error":"SQLSTATE 08006","message":null}'));
  const said = { cause: '5xx', gatewayError: { error: 'SQLSTATE 08006', message: null } };
  expect(failures.of('payments')).toEqual(said);
  for (const status of [200, 304, 401, 404, 429]) end('getCustomerId', answered(status, '{}'));
  expect(failures.of('payments')).toEqual(said);
  end('getCustomerId', answered(503));
  expect(failures.of('payments')).toEqual({ cause: '5xx' });
});
