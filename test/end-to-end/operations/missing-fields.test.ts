import { expect, test } from 'vitest';
import { OPEN_POSITIONS } from '../../../src/gateway/operations/get-open-positions.ts';
import { SESSION } from '../../../src/gateway/operations/get-session.ts';
import { METHOD } from '../../../src/gateway/operations/get-withdrawal-methods.ts';
import type { POSITION } from '../../../src/gateway/operations/holdings.ts';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { instrumentWith, positionWith } from '../../gateway/wire/rows.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { startHeldGateway } from '../../support/held-gateway.ts';
import { scrape } from './scraped.ts';

type Row = Readonly<Record<string, unknown>>;

const FULL = positionWith({});
const DEMO = { email: 'demo@example.com' };

/** The service with the sandbox gateway, and a proxy between them that changes its answers. */
async function startWithChangedAnswers() {
  const started = new AsyncDisposableStack();
  const sandbox = started.use(await startSandbox({ seed: 'tests', tickMs: 0 }));
  const front = started.use(await startHeldGateway(sandbox));
  const app = started.use(await startTestApp({ GATEWAY_URL: front.url }, { gateway: sandbox }));
  const token = sandbox.token(DEMO);
  const ask = (document: string) => app.query(document, { token });
  return { front, app, ask, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

/** The metric's missing fields, each as `operation field`. */
async function missingFields(app: TestApp): Promise<readonly string[]> {
  const { series } = await scrape(app);
  return [...series]
    .filter(([name]) => name.startsWith('trading_graph_gateway_missing_fields{'))
    .map(([name, value]) => {
      expect(value).toBe(1);
      const [, operation, field] = /operation="(\w+)",field="([^"]+)"/.exec(name) ?? [];
      return `${operation} ${field}`;
    })
    .toSorted();
}

const without = (name: keyof typeof POSITION.names) => positionWith({ [name]: undefined });

test('a field that is missing from each row of the last answer is listed until it is back', async () => {
  await using service = await startWithChangedAnswers();
  const { front, app, ask } = service;
  const screen = '{ positions { id profit } session(maxAge: 0) { equity positions { id } } }';
  await ask(screen);
  expect(await missingFields(app)).toEqual([]);
  front.change((body: Row, operation) => {
    const positions = [without('profit')];
    if (operation === 'getOpenPositions') return OPEN_POSITIONS.toWire({ positions });
    if (operation !== 'getSession') return body;
    return {
      ...body,
      ...SESSION.toWire({ positions } as never),
      [SESSION.names.equity]: undefined,
    };
  });
  expect((await ask(screen)).errors).toEqual([]);
  const missing = [
    'getOpenPositions positions.profit',
    'getSession equity',
    'getSession positions.profit',
  ];
  expect(await missingFields(app)).toEqual(missing);
  // An empty list changes nothing.
  front.change((body, operation) =>
    operation === 'getOpenPositions' ? OPEN_POSITIONS.toWire({ positions: [] }) : body,
  );
  await ask('{ positions { id } }');
  expect(await missingFields(app)).toEqual(missing);
  front.change((body) => body);
  await ask(screen);
  expect(await missingFields(app)).toEqual([]);
});

test.each<[situation: string, positions: readonly Row[], listed: readonly string[]]>([
  ['present in only one of two rows', [FULL, without('comment')], []],
  ['with the value null', [positionWith({ stopLoss: null })], []],
  ['missing from every row', [without('logo')], ['getOpenPositions positions.logo']],
  ['with another name on the wire', [without('side')], ['getOpenPositions positions.side']],
  [
    'that is required and missing from every row',
    // Two different rows: both are left out of the list, and still count.
    [without('id'), positionWith({ id: undefined, symbol: 'B' })],
    ['getOpenPositions positions.id'],
  ],
  ['that is required and missing from one row', [without('id'), FULL], []],
])(
  'a missing field of positions is listed only if no row has it: a field %s',
  async (_, positions, listed) => {
    await using service = await startWithChangedAnswers();
    const { front, app, ask } = service;
    front.change((body, operation) =>
      operation === 'getOpenPositions' ? { [OPEN_POSITIONS.names.positions]: positions } : body,
    );
    await ask('{ positions { id } }');
    expect(await missingFields(app)).toEqual(listed);
  },
);

test('of instruments, payment methods and the customer id, optional fields are not listed when they are missing', async () => {
  await using service = await startWithChangedAnswers();
  const { front, app, ask } = service;
  front.change((body: unknown, operation) => {
    // Without the required id, and without some optional fields.
    const optional = { mFx: undefined, pFx: undefined, tradingHours: undefined, swap: undefined };
    if (operation === 'getAllTickers') return [instrumentWith({ id: undefined, ...optional })];
    if (operation === 'getWithdrawalMethods') {
      // No field of a method is optional.
      const methods = body as readonly (readonly Row[])[];
      return methods.map((rows) => rows.map((row) => ({ ...row, [METHOD.names.icon]: undefined })));
    }
    // The answer has another field in place of the required one.
    return operation === 'getCustomerId' ? { customer: 'c' } : body;
  });
  await ask('{ catalog { id } withdrawalMethods { title } customerId }');
  expect(await missingFields(app)).toEqual([
    'getAllTickers id',
    'getCustomerId customerId',
    'getWithdrawalMethods icon',
  ]);
});
