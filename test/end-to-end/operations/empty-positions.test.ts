import { expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { seriesValue } from './scraped.ts';

test('accounts whose positions are empty in op 12 alone are counted, until they are back', async () => {
  await using app = await startTestApp();
  const token = await app.signIn();
  const screen = '{ positions { id } session(maxAge: 0) { positions { id } } }';
  const read = async () => (await app.query(screen, { token })).data.positions.length;
  const accounts = async () => [
    await seriesValue(app, 'account_lists{verdict="agree"}'),
    await seriesValue(app, 'account_lists{verdict="differ"}'),
  ];
  expect(await read()).toBeGreaterThan(0);
  expect(await accounts()).toEqual([1, 0]);
  const body = { positions: [] };
  app.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 200, body });
  expect([await read(), await read()]).toEqual([0, 0]);
  expect(await accounts()).toEqual([0, 1]);
  app.sandbox.clearFaults();
  expect(await read()).toBeGreaterThan(0);
  expect(await accounts()).toEqual([1, 0]);
});
