import { beforeEach, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { ACCOUNT, CHANGES, LIST, sseClient, webSocketClient } from './watcher.ts';

const app = sharedApp({ POSITIONS_POLL_MS: '100' });

beforeEach(() => app.sandbox.clearCalls());

const demoToken = () => app.sandbox.token({ email: 'demo@example.com' });

test.each([
  ...[0, -1, 15_001, 2_147_483_647].map((value) => ['intervalMs', value] as const),
  ...[-1, 14, 61].map((value) => ['heartbeatSeconds', value] as const),
])(
  '%s: %d is refused by all live subscriptions on all transports, without a gateway call',
  async (argument, value) => {
    for (const create of [webSocketClient, sseClient]) {
      await using client = create(app, demoToken());
      for (const query of [CHANGES, ACCOUNT, LIST]) {
        const watcher = client.watch({ [argument]: value }, query);
        await eventually(() => watcher.ended !== null);
        expect(watcher.errors).toMatchObject([
          { extensions: { code: 'BAD_USER_INPUT', argument, retryable: false } },
        ]);
      }
    }
    expect(app.sandbox.callCounts().total).toBe(0);
  },
);

test('a cursor that is foreign, in the future or invalid gets a snapshot and no error', async () => {
  await using client = webSocketClient(app, demoToken());
  const own = client.watch();
  await using otherAccount = webSocketClient(app, app.sandbox.token({ email: 'pro@example.com' }));
  const foreign = otherAccount.watch();
  await eventually(() => own.last !== undefined && foreign.last !== undefined);
  const [version = '', seal = ''] = own.last?.cursor.split('.') ?? [];
  const futureVersion = Number.parseInt(version, 36) + 5;
  const cursors = [
    foreign.last?.cursor ?? '',
    `${futureVersion.toString(36)}.${seal}`,
    'zzzzzzzz.aaaaaaaaaaaaaaaa',
    '',
    '__proto__',
    '\u0000',
    'x'.repeat(100_000),
  ];
  for (const after of cursors) {
    const watcher = client.watch({ after });
    await eventually(() => watcher.last !== undefined, watcher.whileOpen);
    expect(watcher.events[0]).toMatchObject({ snapshot: true, opened: [], closed: [] });
    expect(watcher.list).toEqual(own.list);
    watcher.leave();
  }
  const resumed = client.watch({ after: own.last?.cursor ?? null });
  await eventually(() => resumed.last !== undefined, resumed.whileOpen);
  expect(resumed.events[0]).toMatchObject({ snapshot: false, upserted: [] });
});
