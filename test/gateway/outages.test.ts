import { expect, test } from 'vitest';
import type { CallOutcome } from '../../src/gateway/caller.ts';
import type { WireCall } from '../../src/gateway/exchange.ts';
import type { OperationName } from '../../src/gateway/operations.ts';
import { Outages } from '../../src/gateway/outages.ts';
import { createLog } from '../../src/lib/log.ts';
import { createScriptedClock } from '../support/scripted-clock.ts';

function open() {
  const clock = createScriptedClock();
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const log = createLog({ level: 'info', format: 'json', destination });
  const outages = new Outages({ clock, log });
  return {
    clock,
    saw: (operation: OperationName, outcome: CallOutcome, account = '1') =>
      outages.saw(callOf(operation, account), outcome, NEVER_SENT),
    taken: () => lines.splice(0).map(({ level, time, ...line }) => line),
    outages,
  };
}

const NEVER_SENT = {
  sent: false,
  cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }),
} as const;

function callOf(operation: OperationName, account: string): WireCall {
  const caller = { token: null, provedLogin: () => account };
  return { operation, path: '/', headers: [], body: null, deadlineMs: 1, maxBytes: 1, caller };
}

test('failures of a backend are logged when they begin, once a minute, and when they end', async () => {
  const { clock, saw, taken } = open();
  saw('getSession', 'ok');
  for (let at = 0; at < 1_000; at += 1) saw('getSession', 'timeout', String(at % 7));
  saw('getOpenPositions', '5xx');
  saw('getSession', 'circuit');
  expect(taken()).toEqual([
    {
      backend: 'reads',
      operation: 'getSession',
      outcome: 'timeout',
      msg: 'a backend of the gateway fails',
    },
  ]);
  await clock.advance(60_000);
  expect(taken()).toEqual([
    {
      backend: 'reads',
      seconds: 60,
      outcomes: { timeout: 1_000, '5xx': 1 },
      operations: ['getSession', 'getOpenPositions'],
      accounts: 7,
      succeeded: 0,
      heldBack: 1,
      msg: 'a backend of the gateway still fails',
    },
  ]);
  saw('getSession', '429', '3');
  await clock.advance(60_000);
  expect(taken()).toMatchObject([{ seconds: 120, outcomes: { '429': 1 }, accounts: 1 }]);
  saw('getSession', 'ok');
  expect(taken()).toEqual([
    {
      backend: 'reads',
      seconds: 120,
      failed: 1_002,
      accounts: 7,
      msg: 'a backend of the gateway fails no more',
    },
  ]);
  expect(clock.pending).toBe(0);
});

test('a backend that fails now and then does not begin to fail anew each time', async () => {
  const { clock, saw, taken } = open();
  for (let second = 0; second < 180; second += 1) {
    saw('getSession', second % 5 === 0 ? 'reset' : 'ok');
    await clock.advance(1_000);
  }
  expect(taken().map(({ msg }) => msg)).toEqual([
    'a backend of the gateway fails',
    'a backend of the gateway still fails',
    'a backend of the gateway still fails',
    'a backend of the gateway still fails',
  ]);
});

test('the backends are told apart, and one that nobody calls any more is left alone', async () => {
  const { clock, saw, taken, outages } = open();
  saw('getCustomerId', 'connect');
  // Its body is what is wrong.
  outages.saw(callOf('getSession', '1'), 'contract');
  expect(outages.lastFault).toBe('ECONNREFUSED');
  const [payments, reads] = taken();
  expect(payments).toMatchObject({ backend: 'payments', cause: 'ECONNREFUSED' });
  expect(reads).toMatchObject({ backend: 'reads' });
  expect(reads).not.toHaveProperty('cause');
  await clock.advance(120_000);
  expect(outages.lastFault).toBeNull();
  expect(taken()).toMatchObject([
    {
      backend: 'payments',
      causes: { ECONNREFUSED: 1 },
      msg: 'a backend of the gateway still fails',
    },
    { backend: 'reads' },
    { backend: 'payments', msg: 'a backend of the gateway fails no more' },
    { backend: 'reads' },
  ]);
});

test('what is about a token, an input or a client is no failure of a backend', async () => {
  const { clock, saw, taken } = open();
  for (const outcome of ['401', '403', '4xx', 'cancelled', 'busy', 'circuit', 'ok'] as const) {
    saw('setValue', outcome);
  }
  await clock.advance(300_000);
  expect(taken()).toEqual([]);
});
