import { expect, test } from 'vitest';
import { WebSocket as NodeWebSocket } from 'ws';
import { eventually } from '../../../test/support/eventually.ts';
import { memoryStorage } from '../../src/storage/memory.ts';
import { countedEnvironment } from '../support/counted-environment.ts';
import { asksForStream, cutLine } from '../support/cut-line.ts';
import { follow, subscribe } from '../support/events.ts';

const { app, proxy, open } = cutLine();

const ROUTE = '?route=6a08';
const LOGIN = '700001';
const NAMED = { login: () => LOGIN };
const OVER_SOCKET = ['upgrade', 'answer', 'connection_init', 'subscribe', 'answer'];

/**
 * Queries leave and are never answered: what comes all the same has waited for none of them. `said` is what passes until
 * the first list, in the client's order: each answer in it is a round trip, and so is the connection under the first.
 */
function unanswered(platform: { WebSocket?: null } = {}) {
  const asked: string[] = [];
  const said: string[] = [];
  class HeardWebSocket extends NodeWebSocket {
    constructor(...given: ConstructorParameters<typeof NodeWebSocket>) {
      super(...given);
      said.push('upgrade');
      this.once('open', () => said.push('answer'));
      this.once('message', () => said.push('answer'));
    }
    override send(data: string) {
      said.push(JSON.parse(data).type);
      super.send(data);
    }
  }
  const environment = countedEnvironment({
    WebSocket: HeardWebSocket as unknown as typeof globalThis.WebSocket,
    ...platform,
    async fetch(input, init) {
      if (!asksForStream(init)) {
        asked.push(`${input} ${init?.body}`);
        return new Promise(() => {});
      }
      said.push('subscribe');
      const answer = await fetch(input, init);
      said.push('answer');
      return answer;
    },
  });
  return { asked, said, environment };
}

test.each([
  ['a WebSocket', {}, NAMED, OVER_SOCKET],
  ['a WebSocket, by another login,', {}, undefined, OVER_SOCKET],
  ['an event stream', { WebSocket: null }, NAMED, ['subscribe', 'answer']],
])(
  'the first list over %s waits for nothing else, at the very first start',
  async (_name, platform, login, expected) => {
    const { said, environment } = unanswered(platform);
    using core = open({ route: true, environment, ...login });
    // The login of an offline account does as well.
    if (login === undefined) core.expectLogin(LOGIN);
    await follow(core);
    expect([proxy.accepted, proxy.lastPath]).toEqual([1, `/graphql${ROUTE}`]);
    expect(said).toEqual(expected);
  },
);

test('a query leaves beside the socket that opens, both with the hint', async () => {
  proxy.swallowUpgrades();
  const { asked, environment } = unanswered();
  using core = open({ route: true, environment, login: () => LOGIN });
  subscribe(core);
  void core.request('{ session { balance } }', undefined);
  await eventually(() => proxy.upgrades === 1 && asked.length > 0);
  expect(proxy.lastPath).toBe(`/graphql${ROUTE}`);
  expect(asked).toContainEqual(expect.stringMatching(/\?route=6a08 .*balance/));
});

test('the server’s word takes the place of the app’s, and the next user’s of the former one’s', async () => {
  const storage = memoryStorage();
  const stored = () => storage.get('trading-graph:route');
  let [email, login]: [string | null, string | null] = ['demo@example.com', '700002'];
  using core = open({
    route: true,
    storage,
    login: () => login,
    token: () => email && app.sandbox.token({ email }),
  });
  await core.account();
  await eventually(async () => expect(await stored()).toBe('6a08'));
  await core.request('{ __typename }', undefined);
  expect(await stored()).toBe('6a08');
  [email, login] = [null, null];
  await core.tokenChanged();
  await eventually(async () => expect(await stored()).toBe(null));
  [email, login] = ['pro@example.com', '700002'];
  await core.tokenChanged();
  await eventually(async () => expect(await stored()).toMatch(/^(?!6a08)[\da-f]{4}$/));
});

test('an account that has no hint takes no other account’s', async () => {
  let email = 'demo@example.com';
  const environment = countedEnvironment({
    routeHint: (login) => (login === LOGIN ? ROUTE.slice(-4) : null),
  });
  using core = open({ route: true, environment, token: () => app.sandbox.token({ email }) });
  for (const route of [ROUTE, '']) {
    await core.account();
    await core.request('{ __typename }', undefined);
    expect(proxy.lastPath).toBe(`/graphql${route}`);
    email = 'pro@example.com';
    await core.tokenChanged();
  }
});

test('a login that cannot be had costs the hint alone', async () => {
  const thrown: unknown[] = [];
  const environment = countedEnvironment({ thrown });
  const login = () => {
    throw new Error('of the app');
  };
  using core = open({ route: true, environment, login });
  await follow(core);
  await eventually(() => thrown.length > 0);
});

test('requests carry the route once the login is known; a socket waits for it, so that the first one does', async () => {
  using core = open({ route: true });
  const events = await follow(core);
  expect(proxy.lastPath).toMatch(/\?route=[0-9a-f]{4}$/);
  expect(events.line).toEqual(['connected']);
  await core.request('{ __typename }', undefined);
  expect(proxy.lastPath).toMatch(/\?route=[0-9a-f]{4}$/);
});

test('after a restart a socket waits for nothing, and another account’s route is replaced', async () => {
  const storage = memoryStorage();
  const stored = () => storage.get('trading-graph:route');
  await storage.set('trading-graph:route', 'beef');
  const release = Promise.withResolvers<void>();
  const environment = countedEnvironment({
    fetch: async (input, init) => {
      await release.promise;
      return fetch(input, init);
    },
  });
  using core = open({ route: true, storage, environment });
  await follow(core);
  expect(proxy.lastPath).toMatch(/route=beef$/);
  release.resolve();
  await eventually(async () => expect(await stored()).toBe('6a08'));
});

test('a socket is opened without the route where the login cannot be had', async () => {
  const failing: typeof fetch = () => Promise.reject(new TypeError('no way through'));
  using core = open({
    route: true,
    environment: countedEnvironment({ fetch: failing, hurry: (ms) => Math.min(ms, 20) }),
  });
  await follow(core);
  expect(proxy.lastPath).not.toContain('route');
});
