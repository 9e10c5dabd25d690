import { expect, test } from 'vitest';
import { webSocketClient } from '../../end-to-end/live/watcher.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';

async function readiness({ url }: TestApp): Promise<unknown> {
  const response = await fetch(`${url}/health/ready`);
  return { status: response.status, body: await response.json() };
}

const codes = (errors: readonly { extensions: { code: string } }[]) =>
  errors.map(({ extensions }) => extensions.code);

const isUnavailable = { kind: 'status', status: 503 } as const;

test('an account’s failures, on however many tokens, leave the others’ reads alone', async () => {
  await using app = await startTestApp();
  const pro = app.sandbox.token({ email: 'pro@example.com' });
  app.sandbox.fail({ operation: 'getOpenPositions', ...isUnavailable, times: 200 });
  for (let index = 0; index < 30; index += 1) {
    const token = app.sandbox.token({ email: 'demo@example.com', expiresInSeconds: 100 + index });
    const { errors } = await app.query('{ positions { id } }', { token });
    expect(codes(errors)).toEqual(['GATEWAY_UNAVAILABLE']);
  }
  app.sandbox.clearFaults();
  expect(await readiness(app)).toMatchObject({ body: { status: 'ok' } });
  const { errors } = await app.query('{ positions { id } }', { token: pro });
  expect(errors).toEqual([]);
});

test('an account’s failing polls, on however many tokens, leave the others’ reads alone', async () => {
  await using app = await startTestApp({
    POSITIONS_POLL_MS: '100',
    POSITIONS_POLL_MAX_MS: '100',
  });
  const clients = Array.from({ length: 4 }, (_, at) =>
    webSocketClient(
      app,
      app.sandbox.token({ email: 'demo@example.com', expiresInSeconds: 100 + at }),
    ),
  );
  const watchers = clients.map((client) => client.watch());
  await eventually(() => watchers.every(({ list }) => list.length > 0));
  app.sandbox.fail({ operation: 'getOpenPositions', ...isUnavailable });
  const before = app.sandbox.calls('getOpenPositions');
  await eventually(() => app.sandbox.calls('getOpenPositions') >= before + 30);
  app.sandbox.clearFaults();
  const token = app.sandbox.token({ email: 'pro@example.com' });
  expect((await app.query('{ positions { id } }', { token })).errors).toEqual([]);
  await Promise.all(clients.map((client) => client.dispose()));
});
