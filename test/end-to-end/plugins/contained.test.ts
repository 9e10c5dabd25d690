import { copyFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { eventually } from '../../support/eventually.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';
import { readMetrics } from '../../support/leaks.ts';
import { PROGRAM, SOURCES } from '../../support/program.ts';
import { startedOnce } from '../../support/started.ts';
import { initializedSocket } from '../live/raw-socket.ts';

const SERVING = [
  ['without', ''],
  ['with', '1'],
] as const;

/** Beside a bundled program they get the copy of graphql that is in it. */
function pluginsFor(program: string): string {
  const file = join(import.meta.dirname, 'faulty-plugins.ts');
  if (program === SOURCES) return file;
  const copy = join(dirname(program), 'faulty-plugins.ts');
  copyFileSync(file, copy);
  return copy;
}

describe.each(SERVING)('%s hooks of HTTP', (_which, hooks) => {
  const sandbox = startedOnce(() => startSandbox({ tickMs: 0 }));
  const facade = startedOnce(() =>
    startFacadeProcess({
      GATEWAY_URL: sandbox.url,
      PLUGINS: pluginsFor(PROGRAM),
      HTTP_HOOKS: hooks,
      NODE_ENV: 'production',
      RATE_LIMIT_PER_MINUTE: '1000000',
      ORDER_STORE: 'memory',
    }),
  );

  async function counted(): Promise<readonly string[]> {
    const metrics = await readMetrics(facade.adminUrl);
    const series = metrics.matchAll(
      /extension_faults_total\{extension="(.+)",kind="(.+)"\} (\d+)/g,
    );
    return [...series].map(([, ...values]) => values.join(' '));
  }

  test('what a plugin forgets ends nothing, and is counted by its file', async () => {
    const token = sandbox.token({ email: 'demo@example.com' });
    const names = ['Begun', 'Wrapped', 'Done', 'Resolved'];
    const times = 50;
    const answers = await Promise.all(
      Array.from({ length: times }, () =>
        Promise.all(
          names.map((name) => facade.query(`query ${name} { session { id } }`, { token })),
        ),
      ),
    );
    for (const { data, errors } of answers.flat()) {
      expect(errors).toEqual([]);
      expect(data.session.id).toEqual(expect.any(String));
    }
    const headers = { 'x-request-id': 'forget' };
    await facade.query('{ __typename }', { headers });
    const faults = names.length * times + (hooks === '' ? 0 : 1);
    await eventually(async () =>
      expect(await counted()).toEqual([
        `faulty-plugins rejection ${faults}`,
        `faulty-plugins exception ${faults}`,
      ]),
    );
  });

  test.each(['Circular', 'Refused', 'Plain'])(
    'what a plugin adds and JSON cannot carry takes no outcome away: %s',
    async (name) => {
      const token = sandbox.token({ email: 'demo@example.com' });
      const input = `symbol: "AAPL", side: BUY, size: { units: 1 }, idempotencyKey: "${name}"`;
      const selected = '... on OrderAccepted { orderId orders { id } }';
      const { data, errors } = await facade.query(
        `mutation ${name} { placeOrder(input: { ${input} }) { ${selected} } }`,
        { token },
      );
      expect(data).toEqual({ placeOrder: { orderId: expect.any(String), orders: null } });
      expect(errors[0]?.extensions).toMatchObject({ code: 'INTERNAL' });
    },
  );

  test('what a plugin forgets while its result is written, or its events are read, ends nothing', async () => {
    const rejections = async () => Number((await counted())[0]?.split(' ').at(-1) ?? 0);
    let before = await rejections();
    expect((await facade.query('query Written { __typename }')).data).toEqual({
      __typename: 'Query',
    });
    await eventually(async () => expect(await rejections()).toBeGreaterThan(before));
    before = await rejections();
    const token = sandbox.token({ email: 'demo@example.com' });
    using socket = await initializedSocket(facade, token);
    socket.subscribe('1', 'subscription Followed { positionChanges { status } }');
    await socket.until('1', 'next');
    await eventually(async () => expect(await rejections()).toBeGreaterThan(before));
    expect((await facade.query('{ __typename }')).data).toEqual({ __typename: 'Query' });
  });

  test('a query whose answer a plugin spoils fails alone', async () => {
    const answers = [
      await facade.query('query Circular { __typename }'),
      await facade.query('query Refused { __typename }'),
      await facade.query('query Unparsed { __typename }'),
    ];
    for (const { errors } of answers) {
      expect(errors[0]?.extensions).toMatchObject({ code: 'INTERNAL' });
    }
    expect((await facade.query('{ __typename }')).data).toEqual({ __typename: 'Query' });
  });
});
