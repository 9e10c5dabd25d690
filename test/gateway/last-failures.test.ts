import { expect, test } from 'vitest';
import type { CallOutcome } from '../../src/gateway/caller.ts';
import type { WireCall } from '../../src/gateway/exchange.ts';
import { createLastFailures } from '../../src/gateway/last-failures.ts';
import { OPERATIONS } from '../../src/gateway/operations.ts';

const CALL: WireCall = {
  ...{
    operation: 'getSession',
    row: OPERATIONS.getSession,
    path: '/',
    headers: [],
    body: null,
    deadlineMs: 1,
    maxBytes: 1,
  },
  caller: { token: null },
};

test('the newest failure of a backend is remembered, with the address that was tried, and nothing that is none', () => {
  const failures = createLastFailures('https://gateway.example.com/api');
  const end = (outcome: CallOutcome, code: string, tried = {}) =>
    failures.saw(CALL, outcome, {
      ...{ sent: false, cause: Object.assign(new Error(code), { code, ...tried }) },
    });
  end('ok', 'ECONNREFUSED');
  expect(failures.of('reads')).toBeUndefined();
  end('connect', 'EMFILE');
  expect(failures.of('reads')).toEqual({ cause: 'EMFILE', tried: 'gateway.example.com' });
  end('connect', 'ECONNREFUSED', { address: '10.0.0.7', port: 443 });
  end('401', 'EMFILE');
  expect(failures.of('reads')).toEqual({ cause: 'ECONNREFUSED', tried: '10.0.0.7:443' });
  expect(failures.of('payments')).toBeUndefined();
});
