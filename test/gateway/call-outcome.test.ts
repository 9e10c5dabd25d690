import { describe, expect, test } from 'vitest';
import { callOutcome } from '../../src/gateway/classify.ts';
import { DeadlineError, NotAttemptedError } from '../../src/gateway/errors.ts';
import type { Exchange, NoAnswer, WireCall } from '../../src/gateway/exchange.ts';
import type { OperationName } from '../../src/gateway/operations.ts';

function callOf(operation: OperationName, signal?: AbortSignal): WireCall {
  const caller = { token: null, ...(signal && { signal }) };
  return { operation, path: '/', headers: [], body: null, deadlineMs: 1, maxBytes: 1, caller };
}

const READ = callOf('getSession');
const WRITE = callOf('setValue');
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

const sent = { sent: true, sequence: 1, sentAtMs: 0 } as const;
const unsent = (cause: unknown): Exchange => ({ sent: false, cause });
const lost = (reason: NoAnswer['reason']): Exchange => ({
  ...sent,
  answered: false,
  reason,
  cause: null,
});
const answered = (status: number, headers = {}, body: unknown = ''): Exchange => ({
  ...sent,
  answered: true,
  status,
  headers,
  bytes: Buffer.from(JSON.stringify(body)),
});

describe('the outcome of a call', () => {
  test.each<[string, WireCall, Exchange]>([
    ['timeout', READ, unsent(new DeadlineError(1))],
    ['circuit', READ, unsent(new NotAttemptedError('circuit', 'held back'))],
    ['busy', READ, unsent(new NotAttemptedError('busy', 'held back'))],
    ['expired', callOf('openPosition'), unsent(new NotAttemptedError('expired', 'held back'))],
    ['connect', READ, unsent(new Error('refused'))],
    ['cancelled', callOf('getSession', AbortSignal.abort()), unsent(new Error('aborted'))],
    ['timeout', READ, lost('timeout')],
    ['reset', READ, lost('connection')],
    ['contract', READ, lost('protocol')],
    ['contract', READ, lost('oversize')],
    ['contract', READ, lost('encoding')],
    ['cancelled', READ, lost('aborted')],
    ['ok', READ, answered(200, JSON_TYPE)],
    ['contract', READ, answered(200, { 'content-type': 'text/html' })],
    ['ok', READ, answered(304)],
    ['contract', READ, answered(302)],
    ['401', READ, answered(401)],
    ['403', READ, answered(403)],
    ['429', READ, answered(429)],
    ['timeout', READ, answered(408)],
    ['4xx', WRITE, answered(400)],
    ['4xx', WRITE, answered(499)],
    ['contract', READ, answered(404)],
    ['5xx', READ, answered(500)],
    ['5xx', WRITE, answered(599)],
  ])('is %s', (outcome, call, exchange) => {
    expect(callOutcome(call, exchange)).toBe(outcome);
  });
});
