import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient as createSseClient } from 'graphql-sse';
import { createClient as createWebSocketClient } from 'graphql-ws';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { readUntil } from '../../support/read-until.ts';
import { ownApp } from '../../support/shared-app.ts';
import { sseClient, type Watcher, webSocketClient } from './watcher.ts';

const page = await readFile(new URL('../../../docs/live.md', import.meta.url), 'utf8');

function examples(language: string): string[] {
  const blocks = page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'));
  return [...blocks].map(([, code]) => code as string);
}

const [LIVE_QUERY = '', ACCOUNT_QUERY = ''] = examples('graphql');
const [FOLD = '', FOLD_ACCOUNT = '', WEB_SOCKET = '', SSE = ''] = examples('js');
const [CURL = ''] = examples('sh');

const app = ownApp({ POSITIONS_POLL_MS: '100' });
let witness: Watcher;
const disposals: (() => unknown)[] = [];

beforeEach(async () => {
  const client = sseClient(app, app.sandbox.token({ email: 'demo@example.com' }));
  disposals.push(() => client.dispose());
  witness = client.watch();
  await eventually(() => witness.last !== undefined);
});
afterEach(async () => {
  // A client that is connecting while the server closes would fail to be disposed of.
  await Promise.all(disposals.splice(0).map((dispose) => dispose()));
});

/** Runs an example of the page with another address; `names` are the variables it leaves to its reader. */
function run(code: string, names: Record<string, unknown>, last: string): unknown {
  const imports = [...code.matchAll(/^import .* from '(.*)';$/gm)];
  expect(imports.every(([, name = '']) => /^graphql-(ws|sse)$/.test(name))).toBe(true);
  const here = code
    .replace(/^import .*$/gm, '')
    .replace('wss://example.com/graphql', app.webSocketUrl)
    .replace('https://example.com/graphql', `${app.url}/graphql`);
  const body = `${FOLD}\n${here}\n${last}`;
  return new Function(...Object.keys(names), body)(...Object.values(names));
}

function freshTokens() {
  let asked = 0;
  return {
    asked: () => asked,
    freshToken: async () => {
      asked += 1;
      const expiresInSeconds = asked === 1 ? 2 : 3_600;
      return app.sandbox.token({ email: 'demo@example.com', expiresInSeconds });
    },
  };
}

type Rows = Map<string, { id: string; profit: number }>;

async function followsTheMarket(rows: () => Rows): Promise<void> {
  await eventually(() => rows().size === 6);
  app.sandbox.tick();
  await eventually(() => {
    const profits = [...witness.rows.values()].map(({ id, profit }) => [id, profit]);
    expect([...rows().values()].map(({ id, profit }) => [id, profit])).toEqual(profits);
  });
}

test('the WebSocket example follows the market, through the end of its token', async () => {
  const { freshToken, asked } = freshTokens();
  const statuses: string[] = [];
  const failures: unknown[] = [];
  const { rows, variables, client } = run(
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
  ) as { rows: Rows; variables: { after: string | null }; client: { dispose(): void } };
  disposals.push(() => client.dispose());
  await followsTheMarket(() => rows);
  await eventually(() => asked() === 2);
  await followsTheMarket(() => rows);
  expect(variables.after).toBe(witness.variables.after);
  expect(statuses.at(-1)).toBe('LIVE');
  expect(failures).toEqual([]);
});

test('the event-stream example follows the market, through the end of its token', async () => {
  const { freshToken, asked } = freshTokens();
  const rows: Rows = new Map();
  const variables = { after: null };
  let left = false;
  const { follow, client } = run(
    SSE,
    {
      createClient: createSseClient,
      LIVE_QUERY,
      freshToken,
      showError: () => {},
      pause: async () => {
        if (left) throw new Error('left');
        await delay(10);
      },
    },
    'return { follow, client };',
  ) as {
    follow: (rows: Rows, variables: unknown) => Promise<void>;
    client: { dispose(): void };
  };
  const following = follow(rows, variables).catch(() => {});
  disposals.push(() => client.dispose());
  await followsTheMarket(() => rows);
  await eventually(() => asked() >= 2);
  await followsTheMarket(() => rows);
  left = true;
  client.dispose();
  await following;
});

test('the account that is folded follows the gateway', async () => {
  const account = {
    positions: new Map(),
    orders: new Map(),
    session: null as { balance: number } | null,
  };
  const foldAccount = new Function(`${FOLD}\n${FOLD_ACCOUNT}\nreturn foldAccount;`)();
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const client = webSocketClient(app, token);
  disposals.push(() => client.dispose());
  const watcher = client.watch({}, ACCOUNT_QUERY);
  watcher.sink.next = ({ data }) => {
    foldAccount(account, (data as { accountChanges: object }).accountChanges);
  };
  await eventually(() => account.orders.size === 3);
  const [order] = account.orders.values();
  app.sandbox.putPrice(order.symbol, order.priceOpen);
  await eventually(() => account.positions.has(order.id) && !account.orders.has(order.id));
  const { data } = await app.query(
    '{ session(maxAge: 0) { balance } orders { id } positions { id } }',
    { token },
  );
  const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).sort();
  expect([...account.orders.keys()].sort()).toEqual(ids(data.orders));
  expect([...account.positions.keys()].sort()).toEqual(ids(data.positions));
  expect(account.session?.balance).toBe(data.session.balance);
});

test('the request of the command line is answered with events', async () => {
  const [, body] = /-d '(.*)'/.exec(CURL) ?? [];
  const headers = [...CURL.matchAll(/-H ["'](.+?): (.+?)["']/g)].map(([, name, value]) => [
    name,
    value?.replace('$TOKEN', app.sandbox.token({ email: 'demo@example.com' })),
  ]);
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: headers as [string, string][],
    body: body ?? null,
  });
  const text = await readUntil(response.body, (read) => /event: next\ndata: .*\n\n/.test(read));
  expect(text).toContain('"snapshot":true');
});
