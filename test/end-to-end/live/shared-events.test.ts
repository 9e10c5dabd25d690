import { beforeAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import type { Context } from '../../../src/schema/context.ts';
import { eventually } from '../../support/eventually.ts';
import { type AddedField, extendedSchema, KINDS, selected } from '../../support/extended-schema.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { startedOnce } from '../../support/started.ts';
import { sseClient, type Watcher, webSocketClient } from './watcher.ts';

const TICKS = 3;

const mine = ({ scope }: Context) => scope.caller.token?.text.slice(-12);

/** The value of each of these fields is its subscriber's token. */
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

const OWNERS = ['Position', 'PositionChanges', 'AccountChanges', 'Order', 'Session'];
const schema = extendedSchema(OWNERS, PERSONAL);

const gateway = startedOnce(() => startSandbox({ seed: 'tests', tickMs: 0 }));
const app = sharedApp({ POSITIONS_POLL_MS: '100' }, { schema, gateway });
let tokens: readonly string[];

beforeAll(async () => {
  tokens = [await app.signIn(), await app.signIn()];
});

/** Collects the events that two tokens of one account receive over each transport, while the market moves. */
async function receivedEvents(query: string) {
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
    await eventually(() => {
      // A subscription that has ended gets no events.
      for (const { watcher } of clients)
        expect([watcher.errors, watcher.ended]).toEqual([[], null]);
      return least() > before;
    });
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

const POSITIONS = 'snapshot positions { upserted { id } closed }';

describe.each([
  ['of the event', 'positionChanges { snapshot upserted { id } closed FIELD }'],
  ['of its positions', 'positionChanges { snapshot upserted { id FIELD } closed }'],
  ['of the account’s event', `accountChanges { ${POSITIONS} FIELD }`],
  ['of its orders', `accountChanges { ${POSITIONS} orders { upserted { id FIELD } closed } }`],
  ['of its session', `accountChanges { ${POSITIONS} session { id FIELD } }`],
  ['of the positions of the list', 'positions { id FIELD }'],
])('a field %s', (_where, events) => {
  test.each(Object.keys(PERSONAL))('has each subscriber’s own value: %s', async (name) => {
    const received = KINDS.map((kind) =>
      receivedEvents(`subscription { ${events.replace('FIELD', selected(name, kind))} }`),
    );
    for (const { token, events } of (await Promise.all(received)).flat()) {
      const shown = JSON.stringify(events);
      expect(tokens.filter((each) => shown.includes(each.slice(-12)))).toEqual([token]);
    }
  });
});
