import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { linesOf } from './request-lines.ts';
import { seriesValue } from './scraped.ts';

const OPERATION = 'getCustomerId';
const median = (app: TestApp, over: string) =>
  seriesValue(app, `gateway_call_median_seconds{operation="${OPERATION}",over="${over}"}`);
const slow = (app: TestApp) => seriesValue(app, `gateway_slow{operation="${OPERATION}"}`);

async function readinessOf({ adminUrl }: TestApp) {
  return (await fetch(`${adminUrl}/health/ready`)).json();
}

test('an operation that is slow against its own past is told, until it is as quick as before', async () => {
  // A minute is 1.2 s here.
  await using app = await startTestApp({}, { speedSliceMs: 200 });
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const ask = () =>
    Promise.all(Array.from({ length: 15 }, () => app.query('{ customerId }', { token })));
  await eventually(async () => {
    await ask();
    expect(await median(app, 'hour')).toBeGreaterThan(0);
    // A busy machine is slow against its own past, too.
    expect(await slow(app)).toBe(0);
  });
  const before = linesOf(app, 'an operation of the gateway is slow').length;
  app.sandbox.fail({ operation: OPERATION, kind: 'delay', delayMs: 1_000 });
  await eventually(async () => {
    await ask();
    expect(await slow(app)).toBe(1);
  });
  expect(await readinessOf(app)).toMatchObject({
    reasons: ['slow'],
    details: [{ detail: expect.stringMatching(/getCustomerId: \d+ ms, usually \d+ ms/) }],
  });
  expect(linesOf(app, 'an operation of the gateway is slow')[before]).toMatchObject({
    level: 'warn',
    operation: OPERATION,
    medianMs: expect.any(Number),
  });
  expect(await median(app, 'minute')).toBeGreaterThan(2.5 * (await median(app, 'hour')));
  app.sandbox.clearFaults();
  await eventually(async () => {
    await ask();
    expect(await readinessOf(app)).toMatchObject({ status: 'ok' });
  });
  // Each state is told once; a busy machine may make too few calls in a minute of this test to stay slow.
  const told = linesOf(app, 'an operation of the gateway is slow');
  expect(linesOf(app, 'an operation of the gateway is slow no more')).toHaveLength(told.length);
});
