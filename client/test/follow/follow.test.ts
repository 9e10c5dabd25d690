import { createClient } from 'graphql-ws';
import { expect, onTestFinished, test } from 'vitest';
import { startTestApp } from '../../../test/support/app.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startedOnce } from '../../../test/support/started.ts';
import type { FollowRequest, FollowSink, PositionsState } from '../../src/follow.ts';
import { follow } from '../../src/follow.ts';
import { signedIn } from '../support/client.ts';
import { startCutProxy } from '../support/cut-proxy.ts';

const app = startedOnce(() => startTestApp({ POSITIONS_POLL_MS: '100' }));

/** A client of graphql-ws behind a network that can be cut. */
async function startLine() {
  const proxy = await startCutProxy(app.url);
  const { token } = signedIn(app);
  const socket = createClient({
    url: `${proxy.url.replace('http', 'ws')}/graphql`,
    connectionParams: () => ({ authorization: `Bearer ${token()}` }),
    retryAttempts: 0,
  });
  onTestFinished(async () => {
    await socket.dispose();
    await proxy.close();
  });
  const positions = async () =>
    (await app.query('{ positions { id symbol profit } }', { token: token() })).data.positions;
  return { proxy, socket, positions };
}

/** Follows, and collects the states. */
function followed(...[subscribe, options]: Parameters<typeof follow>) {
  const states: PositionsState[] = [];
  const onChange = (state: PositionsState) => void states.push(state);
  const end = follow(subscribe, { ...options, onChange });
  onTestFinished(end);
  const shows = (status: string) =>
    eventually(() => expect(states.at(-1)).toMatchObject({ status })).then(() => states.at(-1));
  return { states, shows, end };
}

const FIELDS = ['symbol', 'profit'] as const;

test('a client of graphql-ws follows the list through a lost connection, from its cursor on', async () => {
  const { proxy, socket, positions } = await startLine();
  const cursors: unknown[] = [];
  const subscribe = (request: FollowRequest, sink: FollowSink) => {
    cursors.push(request.variables.after);
    return socket.subscribe(request, sink);
  };
  const { states, shows } = followed(subscribe, { onChange() {}, positionFields: FIELDS });
  expect(states).toMatchObject([{ status: 'CONNECTING', positions: null }]);
  expect((await shows('LIVE'))?.positions).toEqual(await positions());
  await proxy.refuse();
  expect(await shows('OFFLINE')).toMatchObject({ error: { code: 'NETWORK' } });
  app.sandbox.tick();
  await proxy.heal();
  const live = await shows('LIVE');
  expect(live?.error).toBe(null);
  await eventually(async () => expect(states.at(-1)?.positions).toEqual(await positions()));
  expect(cursors.at(-1)).toEqual(expect.any(String));
});

test('what the server refuses for good is OFFLINE, and is not asked for again', async () => {
  const { socket } = await startLine();
  let asked = 0;
  const subscribe = (request: FollowRequest, sink: FollowSink) => {
    asked += 1;
    return socket.subscribe(request, sink);
  };
  const { shows } = followed(subscribe, { onChange() {}, intervalMs: 20_000 });
  expect(await shows('OFFLINE')).toMatchObject({ error: { code: 'BAD_USER_INPUT' } });
  expect(asked).toBe(1);
});

test.each([
  ['GraphQL errors', [{ message: 'no', extensions: { code: 'FORBIDDEN' } }], 'FORBIDDEN'],
  ['an error of Apollo Client', { errors: [{ extensions: { code: 'FORBIDDEN' } }] }, 'FORBIDDEN'],
  ['an error of urql', { graphQLErrors: [{ extensions: { code: 'FORBIDDEN' } }] }, 'FORBIDDEN'],
  ['a lost connection', new Error('Socket closed'), 'NETWORK'],
])('an observable reports %s, at once or later', async (_, error, code) => {
  const observable = (report: (sink: FollowSink) => void) => () => ({
    subscribe(sink: FollowSink) {
      report(sink);
      return { unsubscribe() {} };
    },
  });
  const ways = [
    (sink: FollowSink) => sink.error(error),
    (sink: FollowSink) => sink.next({ data: null, error }),
    (sink: FollowSink) => void Promise.resolve().then(() => sink.error(error)),
  ];
  for (const report of ways) {
    const { shows, end } = followed(observable(report), { onChange() {} });
    expect(await shows('OFFLINE')).toMatchObject({ error: { code } });
    end();
  }
});
