import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient as createWebSocketClient } from 'graphql-ws';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { ownApp } from '../../support/shared-app.ts';
import { closeAfterEachTest } from './close-after-each-test.ts';
import { type LiveClient, sseClient, type Watcher, webSocketClient } from './watcher.ts';

const page = await readFile(new URL('../../../docs/live.md', import.meta.url), 'utf8');

function examples(language: string): string[] {
  const blocks = page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'));
  return [...blocks].map(([, code]) => code as string);
}

const [LIVE_QUERY = '', ACCOUNT_QUERY = ''] = examples('graphql');
const [FOLD = '', FOLD_ACCOUNT = '', WEB_SOCKET = ''] = examples('js');

const app = ownApp({ POSITIONS_POLL_MS: '100' });
const opened = closeAfterEachTest();
const tokenOf = (expiresInSeconds = 3_600) =>
  app.sandbox.token({ email: 'demo@example.com', expiresInSeconds });

/** Runs an example of the page. It uses `variables` without declaring them; `returned` is a statement added at its end. */
function run(code: string, variables: Record<string, unknown>, returned: string): unknown {
  const imports = [...code.matchAll(/^import .* from '(.*)';$/gm)];
  expect(imports.every(([, name = '']) => name === 'graphql-ws')).toBe(true);
  const localCode = code
    .replace(/^import .*$/gm, '')
    .replace('wss://example.com/graphql', app.webSocketUrl);
  const body = `${FOLD}\n${localCode}\n${returned}`;
  return new Function(...Object.keys(variables), body)(...Object.values(variables));
}

type Rows = Map<string, { id: string; profit: number }>;

test('the WebSocket example follows the market, even after its token has expired', async () => {
  let tokens = 0;
  // The first token expires after two seconds.
  const freshToken = async () => {
    tokens += 1;
    return tokens === 1 ? tokenOf(2) : tokenOf();
  };
  const witness = opened(sseClient(app, tokenOf())).watch();
  const statuses: string[] = [];
  const failures: unknown[] = [];
  const socket = run(
    WEB_SOCKET,
    {
      createClient: (options: { url: string }) =>
        createWebSocketClient({ ...options, retryWait: () => delay(20) }),
      LIVE_QUERY,
      freshToken,
      draw: (_rows: unknown, _totals: unknown, status: string) => statuses.push(status),
      showError: (failure: unknown) => failures.push(failure),
    },
    'return { rows, variables, client };',
  ) as { rows: Rows; variables: { after: string | null }; client: LiveClient };
  opened(socket.client);
  const expectSameList = async () => {
    await eventually(() => expect(witness.rows.size).toBe(6), witness.whileOpen);
    app.sandbox.tick();
    const profits = (rows: Watcher['rows'] | Rows) =>
      [...rows].map(([id, row]) => [id, row.profit]);
    const isSame = () => expect(profits(socket.rows)).toEqual(profits(witness.rows));
    await eventually(isSame, witness.whileOpen);
  };
  await expectSameList();
  await eventually(() => tokens === 2);
  await expectSameList();
  expect(socket.variables.after).toBe(witness.variables.after);
  expect(statuses.at(-1)).toBe('LIVE');
  expect(failures).toEqual([]);
});

test('the example for account changes has the same orders, positions and balance as the gateway', async () => {
  const account = {
    positions: new Map(),
    orders: new Map(),
    session: null as { balance: number } | null,
  };
  const foldAccount = new Function(`${FOLD}\n${FOLD_ACCOUNT}\nreturn foldAccount;`)();
  const watcher = opened(webSocketClient(app, tokenOf())).watch({}, ACCOUNT_QUERY);
  watcher.sink.next = ({ data }) => {
    foldAccount(account, (data as { accountChanges: object }).accountChanges);
  };
  await eventually(() => expect(account.orders.size).toBe(3));
  const [order] = account.orders.values();
  app.sandbox.putPrice(order.symbol, order.priceOpen);
  await eventually(() => account.positions.has(order.id) && !account.orders.has(order.id));
  const { data } = await app.query(
    '{ session(maxAge: 0) { balance } orders { id } positions { id } }',
    { token: tokenOf() },
  );
  const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).sort();
  expect([...account.orders.keys()].sort()).toEqual(ids(data.orders));
  expect([...account.positions.keys()].sort()).toEqual(ids(data.positions));
  expect(account.session?.balance).toBe(data.session.balance);
});
