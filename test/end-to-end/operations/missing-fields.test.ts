import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { positionRow } from '../../gateway/wire/rows.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { startHeldGateway } from '../../support/held-gateway.ts';
import { scrape } from './scraped.ts';

type Row = Readonly<Record<string, unknown>>;

const POSITION: Row = { ...positionRow };
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

const without = (name: string) => (row: Row) =>
  Object.fromEntries(Object.entries(row).filter(([field]) => field !== name));

test('a field that is missing from each row of the last answer is listed until it is back', async () => {
  await using service = await startWithChangedAnswers();
  const { front, app, ask } = service;
  const screen = '{ positions { id profit } session(maxAge: 0) { equity positions { id } } }';
  await ask(screen);
  expect(await missingFields(app)).toEqual([]);
  front.change((body: { positions?: readonly Row[] }) => {
    if (body.positions === undefined) return body;
    const { equity: _, ...rest } = body as Row;
    return { ...rest, positions: body.positions.map(without('profit')) };
  });
  expect((await ask(screen)).errors).toEqual([]);
  const missing = [
    'getOpenPositions positions.profit',
    'getSession equity',
    'getSession positions.profit',
  ];
  expect(await missingFields(app)).toEqual(missing);
  // An empty list changes nothing.
  front.change((body: Row) => ('positions' in body ? { ...body, positions: [] } : body));
  await ask('{ positions { id } }');
  expect(await missingFields(app)).toEqual(missing);
  front.change((body) => body);
  await ask(screen);
  expect(await missingFields(app)).toEqual([]);
});

test.each<[situation: string, positions: readonly Row[], listed: readonly string[]]>([
  ['present in only one of two rows', [POSITION, without('comment')(POSITION)], []],
  ['with the value null', [{ ...POSITION, sl: null }], []],
  ['missing from every row', [without('logo')(POSITION)], ['getOpenPositions positions.logo']],
  [
    'with another name on the wire',
    [without('isBuy')(POSITION)],
    ['getOpenPositions positions.side'],
  ],
  [
    'that is required and missing from every row',
    // Two different rows: both are left out of the list, and still count.
    [without('id')(POSITION), { ...without('id')(POSITION), symbol: 'B' }],
    ['getOpenPositions positions.id'],
  ],
  ['that is required and missing from one row', [without('id')(POSITION), POSITION], []],
])(
  'a missing field of positions is listed only if no row has it: a field %s',
  async (_, positions, listed) => {
    await using service = await startWithChangedAnswers();
    const { front, app, ask } = service;
    front.change((body: Row) => ('positions' in body ? { positions } : body));
    await ask('{ positions { id } }');
    expect(await missingFields(app)).toEqual(listed);
  },
);

test('of instruments, payment methods and the customer id, optional fields are not listed when they are missing', async () => {
  await using service = await startWithChangedAnswers();
  const { front, app, ask } = service;
  // Without the required `_id`, and without some optional fields.
  const reduced = ({ _id, mFx, pFx, tradingHours, swap, ...row }: Row) => row;
  front.change((body: unknown, url) => {
    if (url.includes('/tickers/')) return (body as readonly Row[]).map(reduced);
    if (url.endsWith('/withdrawal-methods')) {
      // No field of a method is optional.
      return (body as readonly (readonly Row[])[]).map((rows) => rows.map(without('icon')));
    }
    // The answer has another field in place of the required `customerId`.
    return url.endsWith('/customer-id') ? { customer: 'c' } : body;
  });
  await ask('{ catalog { id } withdrawalMethods { title } customerId }');
  expect(await missingFields(app)).toEqual([
    'getAllTickers id',
    'getCustomerId customerId',
    'getWithdrawalMethods icon',
  ]);
});
