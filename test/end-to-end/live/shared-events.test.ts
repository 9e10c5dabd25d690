import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts';
import type { Context } from '../../../src/schema/context.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { type AddedField, extendedSchema, KINDS, selected } from '../../support/extended-schema.ts';
import { RunCounts } from '../../support/run-counts.ts';
import { sseClient, type Watcher, webSocketClient } from './watcher.ts';

const TICKS = 4;

const runs = new RunCounts();

const mine = ({ scope }: Context) => scope.caller.token?.text.slice(-12);

/** The value of each of these fields is the token of its watcher. */
const PERSONAL: Readonly<Record<string, AddedField>> = {
  unmarked: { sharing: null, read: mine },
  group: { sharing: 'group', read: mine },
  copy: { sharing: 'copy', read: mine },
  wrongAccount: { sharing: 'account', read: mine },
  wrongAccountLater: {
    sharing: 'account',
    async read(context) {
      await context.scope.viewer();
      return mine(context);
    },
  },
};

/** These have the same value for all. */
const CONSTANT: Readonly<Record<string, AddedField>> = {
  account: { sharing: 'account', read: runs.counted('account', () => 'the same') },
  ofTheGroup: { sharing: 'group', read: runs.counted('ofTheGroup', () => 'the same') },
  unmarkedConstant: { sharing: null, read: runs.counted('unmarkedConstant', () => 'the same') },
  readsCatalog: {
    sharing: 'account',
    read: runs.counted('readsCatalog', ({ scope }) => scope.catalog() && 'the same'),
  },
};

const OWNERS = ['Position', 'PositionChanges', 'AccountChanges', 'Order', 'Session'];
const schema = extendedSchema(OWNERS, { ...PERSONAL, ...CONSTANT });

let gateway: Sandbox;
let app: TestApp;
let tokens: readonly string[];

beforeAll(async () => {
  gateway = await startSandbox({ seed: 'tests', tickMs: 0 });
  app = await startTestApp({ POSITIONS_POLL_MS: '100' }, { schema, gateway });
  tokens = [await app.signIn(), await app.signIn()];
});
afterAll(async () => {
  await app.close();
  await gateway.close();
});

interface Received {
  readonly token: string;
  readonly events: readonly object[];
}

/** Collects the events that two tokens of one account receive over each transport, while the market moves. */
async function receivedEvents(query: string): Promise<Received[]> {
  const clients = tokens.flatMap((token) =>
    [webSocketClient, webSocketClient, sseClient].map((createClient) => {
      const client = createClient(app, token);
      return { token, client, watcher: client.watch({}, query) };
    }),
  );
  const least = () => Math.min(...clients.map(({ watcher }) => eventsOf(watcher).length));
  for (let tick = 0; tick < TICKS; tick += 1) {
    const before = least();
    gateway.tick();
    await eventually(() => least() > before);
  }
  await Promise.all(clients.map(({ client }) => client.dispose()));
  return clients.map(({ token, watcher }) => {
    expect(watcher.errors).toEqual([]);
    return { token, events: eventsOf(watcher) };
  });
}

function eventsOf({ events, lists }: Watcher): readonly object[] {
  return events.length > 0 ? events : lists;
}

const ofEvent = (field: string) =>
  `subscription { positionChanges { snapshot upserted { id } closed ${field} } }`;

function ofAccount(ofEvent: string, ofOrder: string, ofSession: string): string {
  return `subscription { accountChanges {
    snapshot positions { upserted { id } closed } ${ofEvent}
    orders { upserted { id ${ofOrder} } closed } session { id ${ofSession} }
  } }`;
}

describe.each([
  ['of the event', ofEvent],
  [
    'of its positions',
    (field: string) =>
      `subscription { positionChanges { snapshot upserted { id ${field} } closed } }`,
  ],
  ['of the account’s event', (field: string) => ofAccount(field, '', '')],
  ['of its orders', (field: string) => ofAccount('', field, '')],
  ['of its session', (field: string) => ofAccount('', '', field)],
  ['of the positions of the list', (field: string) => `subscription { positions { id ${field} } }`],
])('a field %s', (_where, documentOf) => {
  test.each(Object.keys(PERSONAL))('shows each watcher its own: %s', async (name) => {
    for (const kind of KINDS) {
      for (const { token, events } of await receivedEvents(documentOf(selected(name, kind)))) {
        const shown = JSON.stringify(events);
        expect(tokens.filter((each) => shown.includes(each.slice(-12)))).toEqual([token]);
      }
    }
  });
});

/** Counts the events that all watchers received, and how often the field was resolved for them. */
async function count(name: string) {
  const before = runs.of(name);
  const all = await receivedEvents(ofEvent(`${name}Text`));
  const events = all.reduce((sum, { events: { length } }) => sum + length, 0);
  return { events, resolved: runs.of(name) - before };
}

test('a field of the account is resolved once for all watchers of an event', async () => {
  const { events, resolved } = await count('account');
  expect(resolved).toBeGreaterThan(0);
  expect(resolved).toBeLessThanOrEqual(events / 2);
});

test.each(['ofTheGroup', 'unmarkedConstant', 'readsCatalog'])(
  'any other field is resolved for each of them: %s',
  async (name) => {
    const { events, resolved } = await count(name);
    expect(resolved).toBeGreaterThanOrEqual(events);
  },
);
