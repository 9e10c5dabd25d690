import { beforeAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import type { Context } from '../../../src/schema/context.ts';
import { eventually } from '../../support/eventually.ts';
import { extendedSchema, KINDS, type ReadAdded, selected } from '../../support/extended-schema.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { startedOnce } from '../../support/started.ts';
import { sseClient, type Watcher, webSocketClient } from './watcher.ts';

const TICKS = 3;

const tokenEnd = (token = '') => token.slice(-12);
const ownToken = ({ scope }: Context) => tokenEnd(scope.caller.token?.text);

/** The value of each of these fields is the end of its subscriber's token. */
const PERSONAL: Readonly<Record<string, ReadAdded>> = {
  own: ownToken,
  async ownLater(context) {
    await context.scope.viewer();
    return ownToken(context);
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
  const fewestEvents = () => Math.min(...clients.map(({ watcher }) => eventsOf(watcher).length));
  for (let tick = 0; tick < TICKS; tick += 1) {
    const before = fewestEvents();
    gateway.tick();
    await eventually(() => {
      // Without this check an ended subscription would only be noticed at the time limit.
      for (const { watcher } of clients)
        expect([watcher.errors, watcher.ended]).toEqual([[], null]);
      return fewestEvents() > before;
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
  ['of the event’s positions', 'positionChanges { snapshot upserted { id FIELD } closed }'],
  ['of the account’s event', `accountChanges { ${POSITIONS} FIELD }`],
  [
    'of the orders of the account’s event',
    `accountChanges { ${POSITIONS} orders { upserted { id FIELD } closed } }`,
  ],
  ['of the session of the account’s event', `accountChanges { ${POSITIONS} session { id FIELD } }`],
  ['of the positions of the list', 'positions { id FIELD }'],
])('a field %s', (_where, events) => {
  test.each(Object.keys(PERSONAL))('has each subscriber’s own value: %s', async (name) => {
    const received = KINDS.map((kind) =>
      receivedEvents(`subscription { ${events.replace('FIELD', selected(name, kind))} }`),
    );
    for (const { token, events } of (await Promise.all(received)).flat()) {
      const shown = JSON.stringify(events);
      expect(tokens.filter((each) => shown.includes(tokenEnd(each)))).toEqual([token]);
    }
  });
});
