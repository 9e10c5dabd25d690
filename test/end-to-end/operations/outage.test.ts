import { describe, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { linesOf } from './request-lines.ts';

const EMAILS = ['demo@example.com', 'pro@example.com', 'fresh@example.com'];
const HOME =
  'query Home { session(maxAge: 0) { balance } positions { id } orders { id } customerId }';

describe('a gateway that is down', () => {
  test('costs a line for each request, one for each backend, and no stack', async () => {
    await using app = await startTestApp();
    const tokens = EMAILS.map((email) => app.sandbox.token({ email }));
    app.sandbox.fail({ operation: '*', kind: 'reset-before' });
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(tokens.map((token) => app.query(HOME, { token })));
    }
    await eventually(() => linesOf(app, 'request').length === 60);
    const begun = linesOf(app, 'a backend of the gateway fails');
    expect(begun.map(({ backend, level }) => `${level} ${backend}`).sort()).toEqual([
      'warn payments',
      'warn reads',
    ]);
    const lines = app.logged.map((line) => JSON.parse(line));
    expect(lines.filter(({ level }) => level === 'warn' || level === 'error')).toHaveLength(4);
    expect(linesOf(app, 'circuit breaker')).toHaveLength(2);
    expect(app.logged.join('')).not.toContain('stack');
    const last = linesOf(app, 'request').at(-1);
    expect(last).toMatchObject({
      outcome: 'fault',
      codes: ['GATEWAY_UNAVAILABLE'],
      reason: 'circuit_open',
    });
    expect(last?.calls).toContainEqual('getSession circuit 0ms');
    expect(JSON.stringify(last).length).toBeLessThan(700);
    // Nothing for each field, behind an open breaker.
    const ofLast = lines.filter(({ requestId }) => requestId === last?.requestId);
    expect(ofLast).toHaveLength(1);
  });

  test('is told by its receipt as what was called, without the calls that were held back', async () => {
    await using app = await startTestApp();
    const tokens = EMAILS.map((email) => app.sandbox.token({ email }));
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 503 });
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(tokens.map((token) => app.query('{ customerId }', { token })));
    }
    const calls = app.sandbox.calls('getCustomerId');
    const { extensions } = await app.query('{ customerId }', { token: tokens[0] as string });
    expect(app.sandbox.calls('getCustomerId')).toBe(calls);
    expect(extensions.gateway).toEqual([]);
  });
});
