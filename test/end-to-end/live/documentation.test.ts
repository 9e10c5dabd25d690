import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { ownApp } from '../../support/shared-app.ts';
import { closeAfterEachTest } from './close-after-each-test.ts';
import { webSocketClient } from './watcher.ts';

const page = await readFile(new URL('../../../docs/live.md', import.meta.url), 'utf8');

function examples(language: string): string[] {
  const blocks = page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'));
  return [...blocks].map(([, code]) => code as string);
}

const [, ACCOUNT_QUERY = ''] = examples('graphql');
const [FOLD = '', FOLD_ACCOUNT = ''] = examples('js');

const app = ownApp({ POSITIONS_POLL_MS: '100' });
const opened = closeAfterEachTest();
const tokenOf = () => app.sandbox.token({ email: 'demo@example.com' });

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
