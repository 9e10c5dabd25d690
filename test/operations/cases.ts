import { judgeOrder } from '../../src/domain/trading/outcome.ts';
import { HOURS, toInstruments } from '../../src/gateway/operations/get-all-tickers.ts';
import { CUSTOMER_ID } from '../../src/gateway/operations/get-customer-id.ts';
import { OPEN_POSITIONS } from '../../src/gateway/operations/get-open-positions.ts';
import { METHOD, methodsIn } from '../../src/gateway/operations/get-withdrawal-methods.ts';
import { OPERATIONS, type OperationName, type ReadName } from '../../src/gateway/operations.ts';
import { type Reading, readingIn } from '../../src/gateway/scalars.ts';
import { limitOrder, marketOrder } from '../gateway/open-client.ts';
import { toSession } from '../gateway/wire/read-session.ts';
import { instrumentValues, instrumentWith, positionRow, sessionRow } from '../gateway/wire/rows.ts';
import { loginNamed } from '../support/accounts.ts';
import {
  mutation,
  type OperationCase,
  ORDER,
  plainRead,
  READ,
  type ReadCase,
  SIGN_IN,
  write,
} from './operation-case.ts';

type Cases = { readonly [Name in OperationName]: Name extends ReadName ? ReadCase : OperationCase };

const tradingHours = HOURS.toWire({
  ...instrumentValues.tradingHours,
  overnight: ['20:00-04:00'],
});
const address = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
export const methodValues = {
  id: 7,
  title: 'Bank',
  icon: 'bank',
  type: 'bank-transfer',
  crmType: 'bank',
  status: 'APPROVED',
  subtitle: '**** 1',
};
const methodRow = METHOD.toWire(methodValues);
const customerIdIn = (body: unknown, reading: Reading) =>
  CUSTOMER_ID.read(body, reading)?.customerId ?? null;
const storedValue = { a: [1, null, 'x'] };

/** The cases of all operations, for suites that iterate over these. */
export const OPERATION_CASES: Cases = {
  getAllTickers: {
    ...READ,
    call: (client, caller) =>
      client.read(caller, OPERATIONS.getAllTickers, { group: 'standard-usd', etag: null }),
    ask: (gateway, viewer) => gateway.getAllTickers(viewer, 'standard', null),
    field: 'catalog',
    document: '{ catalog { size } }',
    proves: 'group',
    answer: [instrumentWith({ tradingHours })],
    async read(body) {
      const { instruments } = await toInstruments(body as unknown[], readingIn('auto'));
      return instruments.length === 0 ? null : instruments;
    },
  },
  login: {
    ...SIGN_IN,
    call: (client, caller) =>
      client.write(caller, OPERATIONS.login, { email: 'demo@example.com', password: 'demo' }),
    field: 'login',
    document: mutation('login', 'email: "demo@example.com", password: "demo"'),
  },
  forgotPassword: write(
    OPERATIONS.forgotPassword,
    { email: 'demo@example.com' },
    { ...SIGN_IN, fields: 'email: "demo@example.com"' },
  ),
  openPosition: {
    ...ORDER,
    call: async (client, caller) =>
      judgeOrder('openPosition', await client.order(caller, OPERATIONS.openPosition, marketOrder)),
    ask: (gateway, viewer) =>
      gateway.order(viewer, { operation: 'openPosition', order: marketOrder, sendBeforeMs: null }),
    field: 'placeOrder',
    document: mutation(
      'placeOrder',
      `symbol: "AAPL", side: SELL, kind: PENDING, size: { amount: 250.5 }, price: 99.5, stopLoss: { amount: 10 }
     takeProfit: { price: 1.25 }, comment: "c", idempotencyKey: $key`,
    ),
  },
  placeLimitOrder: {
    ...ORDER,
    call: async (client, caller) =>
      judgeOrder(
        'placeLimitOrder',
        await client.order(caller, OPERATIONS.placeLimitOrder, limitOrder),
      ),
    ask: (gateway, viewer) =>
      gateway.order(viewer, {
        operation: 'placeLimitOrder',
        order: limitOrder,
        sendBeforeMs: null,
      }),
    field: 'placeLimitOrder',
    document: mutation(
      'placeLimitOrder',
      `symbol: "AAPL", side: BUY, amount: 100, price: 150, stopLoss: 0, takeProfit: 200
     comment: "c", idempotencyKey: $key`,
    ),
  },
  resetTradingAccountPassword: write(
    OPERATIONS.resetTradingAccountPassword,
    { account: '700001' },
    { fields: 'accountExternalId: "700001"' },
  ),
  addCryptoWallet: write(
    OPERATIONS.addCryptoWallet,
    { address },
    { fields: `address: "${address}"` },
  ),
  addMobileWallet: write(
    OPERATIONS.addMobileWallet,
    { phone: '+49 151' },
    { fields: 'phone: "+49 151"' },
  ),
  markNotificationsRead: write(
    OPERATIONS.markNotificationsRead,
    { ids: [1, -2] },
    {
      fields: 'ids: [1, "-2"]',
      errors: 'plain',
      statuses: [400, 400],
    },
  ),
  getSession: {
    ...READ,
    call: (client, caller) =>
      client.read(caller, OPERATIONS.getSession, { login: loginNamed('700001'), onOwned() {} }),
    ask: (gateway, viewer) => gateway.getSession(viewer),
    field: 'session',
    document: '{ session(maxAge: 0) { login } }',
    proves: 'login',
    errors: 'message',
    answer: sessionRow,
    times: 19,
    read: (body, unit) => toSession(body, '700001', readingIn(unit)),
  },
  getWithdrawalMethods: plainRead(OPERATIONS.getWithdrawalMethods, methodsIn, {
    field: 'withdrawalMethods',
    document: '{ withdrawalMethods { id group title icon type crmType status subtitle } }',
    shows: [{ group: 0, crmType: 'bank', status: 'APPROVED' }],
    answer: [[methodRow]],
    odd: [
      // These bodies cannot be read.
      ...[[methodRow], {}, null, [[null]], ['x'], '[[]]'].map((body) => [body, null] as const),
      [[], []],
      [[[]], []],
      [
        [[methodRow], [], [methodRow]],
        [0, 2].map((group) => ({ ...methodValues, id: '7', group })),
      ],
    ],
  }),
  getOpenPositions: {
    ...READ,
    call: (client, caller) => client.read(caller, OPERATIONS.getOpenPositions, null),
    ask: (gateway, viewer) => gateway.getOpenPositions(viewer, null),
    field: 'positions',
    document: '{ positions { id } }',
    answer: OPEN_POSITIONS.toWire({ positions: [positionRow] }),
    times: 12,
    read: (body, unit) => OPEN_POSITIONS.read(body, readingIn(unit))?.positions ?? null,
  },
  getCustomerId: plainRead(OPERATIONS.getCustomerId, customerIdIn, {
    field: 'customerId',
    document: '{ customerId }',
    shows: 'cus_700001',
    answer: CUSTOMER_ID.toWire({ customerId: 'c-1' }),
    odd: [
      [CUSTOMER_ID.toWire({ customerId: 'cus_1' }), 'cus_1'],
      [{ [CUSTOMER_ID.names.customerId]: 7 }, null],
      [{}, null],
      [null, null],
      ['cus_1', null],
    ],
  }),
  registerDevice: write(
    OPERATIONS.registerDevice,
    { deviceId: 'd', token: 't', platform: 'macos', enabled: false },
    {
      fields: 'deviceId: "d", token: "t", platform: MACOS, enabled: false',
      errors: 'plain',
      statuses: [400, 400],
    },
  ),
  setValue: write(
    OPERATIONS.setValue,
    { key: 'a/b c?d=é#%2F', value: storedValue },
    {
      fields: 'key: "a/b c?d=é#%2F", value: { a: [1, null, "x"] }',
    },
  ),
};
