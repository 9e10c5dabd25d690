import { execFileSync } from 'node:child_process';
import { cpSync, linkSync, mkdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import type { Environment } from '../../../src/config.ts';
import type { TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { redisServerPath } from '../../support/machine.ts';
import { temporaryFolder } from '../../support/own-folder.ts';
import { readinessOf } from '../../support/readiness.ts';
import { startTestRedis } from '../../support/redis.ts';
import { startOrderFacade } from './order-facade.ts';
import { buying, type GraphQLBody, placing, replyOf } from './order-request.ts';

const shell = (script: string) => (folder: string) =>
  void execFileSync('sh', ['-ec', script], { cwd: folder });

/** Operations on the folder of the file between two starts, by which nothing is lost: besides those of test/deploy. */
const WHOLE: Readonly<Record<string, (folder: string) => void>> = {
  touch: (folder) => utimesSync(join(folder, 'data/orders.db'), new Date(), new Date()),
  'the file moved and back': shell('cd data && mv orders.db away && mv away orders.db'),
  'a hard link made and removed': (folder) => {
    linkSync(join(folder, 'data/orders.db'), join(folder, 'link'));
    rmSync(join(folder, 'link'));
  },
  'the folder copied to another disk': shell('cp -a data copy && rm -r data && mv copy data'),
  'a backup that reads': shell('cat data/orders.db > backup'),
};

/** An older state in `older`, put back in the place of `data`. */
const OLDER: Readonly<Record<string, (folder: string) => void>> = {
  'after it was removed, without its mark': shell('rm -r data/* && cp older/orders.db data/'),
  'with its whole folder': shell('rm -r data && mv older data'),
};

/** Taken as soon as a gap ends: a client's clock may be ahead by 60 seconds. */
const young = () => new Date(Date.now() + 59_000).toISOString();

async function sendAround(act: (folder: string) => void) {
  await using folder = await temporaryFolder();
  await using sandbox = await startSandbox({ seed: 'moved', instruments: 5, tickMs: 0 });
  const environment = { ORDER_STORE: join(folder.path, 'data/orders.db') };
  mkdirSync(join(folder.path, 'data'));
  const made = new Date().toISOString();
  const withTime = (key: string, keyMade: string | undefined) => {
    const order = buying(key);
    return { ...order, input: { ...order.input, keyMade } };
  };
  const sent = ['kept', 'last'];
  for (const key of sent) {
    await using facade = await startOrderFacade(environment, sandbox);
    const reply = await facade.client().place(withTime(key, made));
    expect(reply).toMatchObject({ type: 'OrderAccepted', replayed: false });
    await facade.close();
    if (key === 'kept')
      cpSync(join(folder.path, 'data'), join(folder.path, 'older'), {
        recursive: true,
        preserveTimestamps: true,
      });
  }
  act(folder.path);
  await using facade = await startOrderFacade(environment, sandbox);
  const client = facade.client();
  const repeats = await Promise.all(sent.map((key) => client.place(withTime(key, made))));
  const old = (await client.send(placing(buying('old client')))) as GraphQLBody;
  const isTaken = async () => {
    const reply = await client.place(withTime('young', young()));
    expect(reply).toMatchObject({ type: 'OrderAccepted' });
  };
  await eventually(isTaken, { withinMs: 20_000 });
  for (const key of sent) await client.place(withTime(key, made));
  const readiness = await readinessOf(facade.url);
  return { repeats, old, readiness, orders: sandbox.orders().length };
}

const REPLAYED = { type: 'OrderAccepted', replayed: true };
const REFUSED = { kind: 'error', code: 'IDEMPOTENCY_UNAVAILABLE', earlierUnknown: true };

describe('a store of order records', () => {
  test.each(Object.entries(WHOLE))(
    'takes young keys, sends nothing twice and knows all it knew: %s',
    async (_, act) => {
      const { repeats, old, orders } = await sendAround(act);
      expect(repeats).toMatchObject([REPLAYED, REPLAYED]);
      expect(orders).toBe(old.data?.answer == null ? 3 : 4);
    },
  );

  test.each(Object.entries(OLDER))(
    'takes young keys, and sends nothing twice, though an older state was put back %s',
    async (_, act) => {
      const { repeats, old, readiness, orders } = await sendAround(act);
      expect(repeats.at(-1)).toMatchObject(REFUSED);
      expect(old.errors?.[0]?.extensions).toMatchObject({
        code: 'IDEMPOTENCY_UNAVAILABLE',
        earlierUnknown: true,
        gap: { until: expect.stringMatching(/^20.*Z$/) },
      });
      expect(old.errors?.[0]?.extensions).not.toHaveProperty('retryAfter');
      expect(readiness).toMatchObject({ status: 'degraded', reasons: ['order-gap'] });
      expect(orders).toBe(3);
    },
  );
});

const STORES: Readonly<Record<string, (opened: AsyncDisposableStack) => Promise<Environment>>> = {
  'a file': async (opened) => {
    const folder = await temporaryFolder();
    opened.use(folder);
    return { ORDER_STORE: join(folder.path, 'orders.db') };
  },
  ...(redisServerPath !== null && {
    Redis: async (opened) => ({
      REDIS_URL: opened.use(await startTestRedis(redisServerPath ?? '')).url,
    }),
  }),
};

describe('where GATEWAY_FORWARD_HEADERS gives accounts other names', () => {
  test.each(Object.entries(STORES))(
    'no order of theirs is sent again, nor taken by two processes that name them differently: %s',
    async (_, open) => {
      await using opened = new AsyncDisposableStack();
      const store = await open(opened);
      const sandbox = opened.use(
        await startSandbox({ seed: 'renamed', instruments: 5, tickMs: 0 }),
      );
      const token = sandbox.token({ email: 'user-1@example.com' });
      const made = new Date().toISOString();
      const place = async ({ query }: TestApp, key: string, keyMade = made) => {
        const { mutation, input } = buying(key);
        const message = placing({ mutation, input: { ...input, keyMade } });
        const headers = { 'x-brand': 'blue' };
        return replyOf(await query(message.query, { ...message, token, headers }));
      };
      const sentBy = (app: TestApp, key: string, keyMade = () => made) =>
        eventually(async () =>
          expect(await place(app, key, keyMade())).toMatchObject({ replayed: false }),
        );
      const before = await startOrderFacade(store, sandbox);
      opened.defer(() => before.close().catch(() => {}));
      await sentBy(before, 'first');
      await using after = await startOrderFacade(
        { ...store, GATEWAY_FORWARD_HEADERS: 'x-brand' },
        sandbox,
      );
      const isFile = store.ORDER_STORE !== undefined;
      const [takes, refuses] = isFile ? [after, before] : [before, after];
      expect(await place(refuses, 'other', young())).toMatchObject(REFUSED);
      await eventually(async () => {
        const { details } = await readinessOf(refuses.adminUrl);
        expect(JSON.stringify(details)).toContain('another GATEWAY_FORWARD_HEADERS');
      });
      await sentBy(takes, 'second', young);
      await before.close();
      await sentBy(after, 'third', young);
      for (const key of ['first', ...(isFile ? [] : ['second'])])
        expect(await place(after, key)).toMatchObject(REFUSED);
      expect(sandbox.orders().map(({ comment }) => comment)).toEqual(['first', 'second', 'third']);
    },
  );

  test.each(Object.entries(STORES))(
    'a slip in the setting that is mended leaves no gap, unless an order was taken meanwhile: %s',
    async (_, open) => {
      await using opened = new AsyncDisposableStack();
      const store = await open(opened);
      const sandbox = opened.use(await startSandbox({ seed: 'slip', instruments: 5, tickMs: 0 }));
      const token = sandbox.token({ email: 'user-1@example.com' });
      const made = new Date().toISOString();
      const placeBy = (app: TestApp) => async (key: string, keyMade?: string) => {
        const { mutation, input } = buying(key);
        const message = placing({ mutation, input: { ...input, ...(keyMade && { keyMade }) } });
        const headers = { 'x-brand': 'blue' };
        return replyOf(await app.query(message.query, { ...message, token, headers }));
      };
      async function run(
        names: string,
        work: (place: ReturnType<typeof placeBy>, app: TestApp) => Promise<unknown>,
      ) {
        const setting = names === '' ? {} : { GATEWAY_FORWARD_HEADERS: names };
        await using app = await startOrderFacade({ ...store, ...setting }, sandbox);
        await work(placeBy(app), app);
        await app.close();
      }
      const isWhole = async (place: ReturnType<typeof placeBy>, app: TestApp) => {
        expect(await eventually(async () => place('first'))).toMatchObject(REPLAYED);
        await eventually(async () =>
          expect(await readinessOf(app.url)).toMatchObject({ status: 'ok' }),
        );
      };
      await run('', async (place) => {
        await eventually(async () =>
          expect(await place('first')).toMatchObject({ replayed: false }),
        );
      });
      for (const refused of [{}, { keyMade: made }]) {
        await run('x-brand', async (place) => {
          // The order that is refused has a key of before, whose end of the gap is recorded.
          await eventually(async () =>
            expect(await place('first', refused.keyMade)).toMatchObject(REFUSED),
          );
        });
        await run('', isWhole);
      }
      await run('x-brand', async (place) => {
        await eventually(async () =>
          expect(await place('second', young())).toMatchObject({ replayed: false }),
        );
      });
      await run('', async (place) => {
        await eventually(async () => expect(await place('first')).toMatchObject(REPLAYED));
        expect(await place('second', made)).toMatchObject(REFUSED);
      });
      expect(sandbox.orders().map(({ comment }) => comment)).toEqual(['first', 'second']);
    },
  );
});
