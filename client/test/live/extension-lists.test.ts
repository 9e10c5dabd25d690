import { gql, type TypedDocumentNode } from '@apollo/client';
import { expect, test } from 'vitest';
import type { AlertRow } from '../../../test/end-to-end/extensions/live-graph.ts';
import { useExtension as startExtension } from '../../../test/end-to-end/extensions/use-extension.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { type WrittenChanges, writeListChanges } from '../../src/apollo/write-changes.ts';
import { createClient } from '../../src/create-client.ts';
import { startApolloDevice } from '../apollo/apollo-device.ts';
import { signedIn } from '../support/client.ts';
import { countedEnvironment } from '../support/counted-environment.ts';

const { sandbox, service, facade } = startExtension('live-graph.ts', (url) => ({
  SIDE_URL: url,
  ORDER_STORE: 'memory',
  POSITIONS_POLL_MS: '100',
}));

const ALERTS = { fields: ['id', 'symbol', 'price'], ticks: ['id', 'price'] } as const;
const OF_SYMBOL: TypedDocumentNode<{ quoteChanges: { upserted: readonly AlertRow[] } }> = gql`
  subscription ($symbol: String!, $after: String) {
    quoteChanges(symbol: $symbol, after: $after) {
      cursor snapshot status asOf upserted { id symbol price } closed
    }
  }
`;
const EVENTS: TypedDocumentNode<{ alertsChanges: WrittenChanges }> = gql`
  subscription ($after: String) {
    alertsChanges(after: $after) {
      cursor snapshot upserted { id symbol price } ticks { id price } closed
    }
  }
`;
const LIST: TypedDocumentNode<{ alerts: readonly AlertRow[] }> =
  gql`{ alerts { id symbol price } }`;

test('an extension’s lists are followed by name, by an operation with arguments, and in Apollo’s cache, as its service has them', async () => {
  let rows: readonly AlertRow[] = [];
  service.answer = ({ path }) => {
    const symbol = new URL(path, 'http://service').searchParams.get('symbol');
    const alerts = rows.filter((row) => symbol === null || row.symbol === symbol);
    return { status: 200, body: { alerts } };
  };
  const app = { url: facade.url, sandbox };
  const client = createClient({ ...signedIn(app), environment: countedEnvironment() });
  using device = startApolloDevice(signedIn(app));
  const alerts = client.live<AlertRow>('alertsChanges', ALERTS);
  const quotes = client.live(OF_SYMBOL, { variables: { symbol: 'A' } });
  const events: WrittenChanges[] = [];
  alerts(() => {});
  quotes(() => {});
  device.apollo.subscribe({ query: EVENTS }).subscribe(({ data }) => {
    if (!data) return;
    events.push(data.alertsChanges);
    const list = { field: 'alerts', type: 'Alert' };
    writeListChanges(device.apollo.cache, list, data.alertsChanges);
  });
  const row = (id: string, symbol: string, price: number) => ({ id, symbol, price });
  for (const next of [
    [row('1', 'A', 1), row('2', 'B', 1)],
    [row('1', 'A', 2), row('2', 'B', 1)],
    [row('1', 'A', 3), row('3', 'A', 1)],
  ]) {
    rows = next;
    await eventually(() => {
      expect(alerts.state()).toMatchObject({ status: 'LIVE', error: null, rows: next });
      expect(quotes.state().rows).toEqual(next.filter(({ symbol }) => symbol === 'A'));
      expect(device.apollo.readQuery({ query: LIST })?.alerts).toMatchObject(next);
    });
  }
  expect(events.some(({ ticks }) => ticks?.length === 1)).toBe(true);
  client.dispose();
});
