import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { startFacadeProcess } from '../../support/facade-process.ts';
import { freePort } from '../../support/free-ports.ts';
import { ownPackages } from '../../support/own-packages.ts';
import { startProgram } from '../../support/started-program.ts';
import { justNow } from '../orders/order-client.ts';

// npm installs two hundred packages.
vi.setConfig({ testTimeout: 600_000 });

const ROOT = join(import.meta.dirname, '../../..');
const SCREEN = `session { id balance positions { id } orders { id } access { currency } }
  positions { id profit instrument { id name } } orders { id createdAt }
  catalog { id size skipped } customerId withdrawalMethods { id title }`;
const WRITES = `mutation ($keyMade: DateTime!) {
  bought: placeOrder(input: {
    symbol: "AAPL", side: BUY, kind: MARKET, size: { amount: 5 }, stopLoss: { amount: 1 }, takeProfit: { price: 9 }
    comment: "x", idempotencyKey: "a", keyMade: $keyMade
  }) { __typename }
  waiting: placeLimitOrder(input: {
    symbol: "AAPL", side: SELL, amount: 5, price: 300, stopLoss: 310, idempotencyKey: "b", keyMade: $keyMade
  }) { __typename }
}`;
const OTHERS = [
  'forgotPassword(input: { email: "demo@example.com" })',
  'resetTradingAccountPassword(input: { accountExternalId: "1" })',
  'addCryptoWallet(input: { address: "x" })',
  'addMobileWallet(input: { phone: "+1" })',
  'setValue(input: { key: "a/b", value: { of: [1] } })',
  'markNotificationsRead(input: { ids: [1] })',
  'registerDevice(input: { deviceId: "x", platform: IOS, enabled: true })',
];

/** A mock of the gateway, which refuses requests that are not as the document says. */
async function startMock() {
  const folder = await ownPackages(join(ROOT, 'test/prism'));
  const program = join(folder, 'node_modules/@stoplight/prism-cli/dist/index.js');
  const port = await freePort();
  const document = join(ROOT, 'docs/openapi.json');
  const args = [program, 'mock', '--host=127.0.0.1', `--port=${port}`, document];
  const isReady = (lines: readonly string[]) => lines.some((line) => line.includes('listening'));
  const mock = await startProgram(process.execPath, args, isReady);
  return { ...mock, url: `http://127.0.0.1:${port}` };
}

test('a mock server made from the published document serves the graph, and finds no request that differs from it', async () => {
  await using mock = await startMock();
  await using facade = await startFacadeProcess({
    GATEWAY_URL: mock.url,
    ORDER_STORE: 'memory',
    // It answers each order with one number.
    GATEWAY_ORDER_NUMBERS: 'position',
  });
  const { data, errors } = await facade.query(
    `mutation { login(input: { email: "demo@example.com", password: "demo" }) { ... on LoginSuccess { accessToken ${SCREEN} } } }`,
  );
  expect(errors).toEqual([]);
  expect(data.login).toMatchObject({
    session: { id: '700001', balance: 50_000, access: { currency: 'USD' } },
    positions: [{ profit: 1, instrument: { id: 'AAPL', name: 'Apple Inc.' } }],
    orders: [{ createdAt: expect.stringMatching(/^2025-/) }],
    catalog: { id: 'standard-usd', size: 1, skipped: 0 },
    customerId: 'cus_700001',
    withdrawalMethods: [{ id: '1', title: 'Bank account' }],
  });
  const token = data.login.accessToken;
  const orders = await facade.query(WRITES, { token, variables: { keyMade: justNow() } });
  expect(orders.errors).toEqual([]);
  const accepted = { __typename: 'OrderAccepted' };
  expect(orders.data).toEqual({ bought: accepted, waiting: accepted });
  for (const field of OTHERS) {
    const write = await facade.query(`mutation { written: ${field} { __typename } }`, { token });
    expect([field, write.errors, write.data]).toEqual([
      field,
      [],
      { written: { __typename: 'Acknowledged' } },
    ]);
  }
  expect(mock.logged.filter((line) => line.includes('Violation'))).toEqual([]);
});
