import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTradingGraph } from '../../../examples/testing/trading-graph.ts';
import { openPage } from '../../../test/support/browser-page.ts';
import { describeInBrowser } from '../../../test/support/describe-in-browser.ts';
import { createClient } from '../../src/index.ts';

const CHECKOUT = join(import.meta.dirname, '..', '..', '..');
const DEMO = 'demo@example.com';
const QUERY = '{ customerId }';

let service: Awaited<ReturnType<typeof startTradingGraph>>;
beforeAll(async () => {
  service = await startTradingGraph(CHECKOUT, { NODE_ENV: 'development' });
});
beforeEach(() => service.reset());
afterAll(() => service.stop());

const clientOf = (token: (force: boolean) => Promise<string>) =>
  createClient({ url: `${service.url}/graphql`, token: ({ force }) => token(force) });

test('a fault fails a query until the reset', async () => {
  const client = clientOf(() => service.token(DEMO));
  await service.fault({ operation: 'getCustomerId', kind: 'garbage' });
  expect((await client.query(QUERY)).errors).toMatchObject([{ code: 'GATEWAY_CONTRACT' }]);
  await service.reset();
  expect((await client.query(QUERY)).data).toEqual({ customerId: 'cus_700001' });
  client.dispose();
});

test('a token that has ended makes the client ask for another', async () => {
  const asked: boolean[] = [];
  const client = clientOf((force) => {
    asked.push(force);
    return service.token(DEMO, force ? 60 : 0);
  });
  expect((await client.query(QUERY)).data).toEqual({ customerId: 'cus_700001' });
  expect(asked).toEqual([false, true]);
  client.dispose();
});

test('a control that is refused says why', async () => {
  await expect(service.token('nobody@example.com')).rejects.toThrow('There is no such user.');
  await expect(service.fault({ operation: 'none', kind: 'garbage' })).rejects.toThrow('operation');
});

describeInBrowser('with Playwright', (browser) => {
  test('a fault is seen in a page', async () => {
    await service.fault({ operation: 'getSession', kind: 'status', status: 503 });
    await using opened = await openPage(browser, service.url, { isExpected: () => true });
    await opened.page.getByText('session answered 503').first().waitFor();
  });
});
