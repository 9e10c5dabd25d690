import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startCutProxy } from '../support/cut-proxy.ts';
import type { SampleProject } from '../support/sample-project.ts';

const OWN_DOCUMENTS = join(import.meta.dirname, '..', '..', 'trusted-documents.json');

export interface Row {
  readonly id: string;
  readonly symbol: string;
  readonly units?: number | null;
  readonly profit?: number | null;
}

export interface Home {
  readonly session: { readonly id: string } | null;
  readonly positions: readonly Row[] | null;
  readonly orders: readonly Row[] | null;
  readonly withdrawalMethods: unknown;
}

/** An app that was written by a guide, on the client library of the guide. */
export interface GuideApp {
  /** Subscribes and shows the list as the guide's component does. */
  follow(): Following;
  /** The first screen, and the fields of which the app learns that they have failed. */
  home(): Promise<{ readonly data: Home; readonly failed: readonly unknown[] }>;
  /** The outcome of an order by the guide's mutation. */
  place(input: object): Promise<unknown>;
  /** Rows of the cache by their ids, which no request fetches. */
  cached(type: 'Position' | 'Order', id: string): Row | null;
}

export interface Following {
  readonly rows: readonly Row[];
  /** Whether each event was a snapshot. */
  readonly snapshots: readonly boolean[];
  readonly error: unknown;
  stop(): void;
}

/** Takes the place of a page's `src/session.ts`, so that a test decides what the token is. */
export const TEST_SESSION = `
interface Given { freshToken(options: { force: boolean }): string | null; signedOut(): void }
declare global { var session: Given; var graphqlUrl: string }
export const freshToken = (options: { force: boolean }) => globalThis.session.freshToken(options);
export const signedOut = () => globalThis.session.signedOut();
export const keepToken = (_given: string | null) => {};
`;

/** A facade, a line to it that can be cut, and the globals by which the code of a page finds both and its token. */
export async function startGuideWorld(
  settings: Readonly<Record<string, string>> = {},
  options: Parameters<typeof startTestApp>[1] = {},
) {
  const app = await startTestApp({ POSITIONS_POLL_MS: '100', ...settings }, options);
  const proxy = await startCutProxy(app.url);
  const token = app.sandbox.token({ email: 'demo@example.com' });
  Object.assign(globalThis, {
    graphqlUrl: `${proxy.url}/graphql`,
    session: { freshToken: () => token, signedOut() {} },
  });
  return {
    app,
    proxy,
    token,
    async [Symbol.asyncDispose]() {
      await proxy.close();
      await app.close();
    },
  };
}

type World = Awaited<ReturnType<typeof startGuideWorld>>;

/** The settings of a facade that answers nothing but the documents of a manifest, and of the client itself. */
export function trustedAlone({ folder }: SampleProject, manifest: string): Record<string, string> {
  const manifests = join(folder, 'manifests');
  mkdirSync(manifests);
  copyFileSync(join(folder, manifest), join(manifests, 'app.json'));
  copyFileSync(OWN_DOCUMENTS, join(manifests, 'client.json'));
  return { PERSISTED_DOCUMENTS: manifests, PERSISTED_DOCUMENTS_ONLY: 'on' };
}

const HOME_FIELDS = '{ positions { id symbol units profit } }';

/** Tests the promises of a guide with the code of its page. */
export function testPromises(start: () => Promise<GuideApp>): void {
  const inWorld = (
    name: string,
    body: (world: World & { start(): Promise<GuideApp> }) => Promise<void>,
  ) =>
    test(name, async () => {
      await using world = await startGuideWorld();
      await body({ ...world, start });
    });

  const gatewayRows = async ({ query, sandbox }: TestApp): Promise<readonly Row[]> => {
    const token = sandbox.token({ email: 'demo@example.com' });
    const { data } = await query(HOME_FIELDS, { token });
    return data.positions;
  };
  const byId = (rows: readonly Row[]) =>
    rows.map(({ id, symbol, units, profit }) => `${id} ${symbol} ${units} ${profit}`).toSorted();

  inWorld(
    'a lost socket is replaced, and the list goes on without a gap and without what is closed',
    async (world) => {
      const { app, proxy } = world;
      const following = (await world.start()).follow();
      // Rows may be those of a query; the first event shows that there is a socket to cut.
      await eventually(() => following.rows.length > 0 && following.snapshots.length > 0);
      for (let cuts = 1; cuts <= 3; cuts += 1) {
        const seen = following.snapshots.length;
        proxy.cut();
        // While nobody listens a position opens, and all others move.
        const token = app.sandbox.token({ email: 'demo@example.com' });
        const { data } = await app.query(
          `mutation { placeOrder(input: { symbol: "EURUSD", side: BUY, size: { units: 1000 }, idempotencyKey: "${cuts}" }) { __typename } }`,
          { token },
        );
        expect(data.placeOrder.__typename).toBe('OrderAccepted');
        app.sandbox.tick(3);
        await eventually(async () => {
          expect(following.snapshots.length).toBeGreaterThan(seen);
          expect(byId(following.rows)).toEqual(byId(await gatewayRows(app)));
        });
      }
      expect(proxy.upgrades).toBeGreaterThan(3);
      expect(following.snapshots[0]).toBe(true);
      expect(following.snapshots.slice(1)).not.toContain(true);
      const [first, ...others] = await gatewayRows(app);
      const positions = others.map(({ id, symbol }) => ({ id, symbol }));
      const answer = { kind: 'status', status: 200, body: { positions } } as const;
      app.sandbox.fail({ operation: 'getOpenPositions', ...answer });
      await eventually(() => following.rows.length === others.length);
      expect(following.rows.map(({ id }) => id)).not.toContain(first?.id);
      expect(following.error).toBeNull();
      following.stop();
    },
  );

  inWorld('a dead token ends it', async ({ proxy, start: open }) => {
    let token: string | null = 'dead';
    const asked: boolean[] = [];
    let signedOut = 0;
    Object.assign(globalThis, {
      session: {
        freshToken({ force }: { force: boolean }) {
          asked.push(force);
          if (force) token = 'dead as well';
          return token;
        },
        signedOut() {
          signedOut += 1;
          token = null;
        },
      },
    });
    const following = (await open()).follow();
    await eventually(() => following.error !== null && signedOut > 0);
    expect(following.error).toMatchObject({
      message: expect.stringMatching(/signed in|refuses the renewed token/i),
    });
    expect(signedOut).toBe(1);
    expect(asked.filter((force) => force)).toHaveLength(1);
    // On the line with the token, and on that with the renewed one.
    expect(proxy.upgrades).toBeLessThanOrEqual(2);
  });

  inWorld('the outcome of an order shows the fields of its interface', async (world) => {
    const app = await world.start();
    const order = { symbol: 'AAPL', side: 'BUY', size: { units: 1 } };
    expect(await app.place({ ...order, idempotencyKey: 'one' })).toMatchObject({
      __typename: 'OrderAccepted',
      idempotencyKey: 'one',
      replayed: false,
      orderId: expect.any(String),
    });
    expect(await app.place({ ...order, idempotencyKey: 'one' })).toMatchObject({ replayed: true });
    const rejected = { ...order, symbol: 'TEST.REJECT', idempotencyKey: 'two' };
    expect(await app.place(rejected)).toMatchObject({
      __typename: 'OrderRejected',
      message: expect.any(String),
      error: expect.any(String),
    });
    const unknown = { ...order, symbol: 'TEST.UNKNOWN', idempotencyKey: 'three' };
    expect(await app.place(unknown)).toMatchObject({
      __typename: 'OrderOutcomeUnknown',
      idempotencyKey: 'three',
      sentAt: expect.any(String),
    });
    expect(world.app.sandbox.orders().length).toBeGreaterThan(0);
  });

  inWorld('a part that fails leaves the others', async (world) => {
    world.app.sandbox.fail({ operation: 'getWithdrawalMethods', kind: 'status', status: 500 });
    const { data, failed } = await (await world.start()).home();
    expect(data.positions?.length).toBeGreaterThan(0);
    expect(data.session?.id).toBe('700001');
    expect(failed).toEqual(['withdrawalMethods']);
  });

  inWorld('the rows of the first screen are in the cache by type and id', async (world) => {
    const order = { id: 'same', symbol: 'MSFT' };
    const position = { id: 'same', symbol: 'AAPL' };
    const answer = (operation: 'getSession' | 'getOpenPositions', body: object) =>
      world.app.sandbox.fail({ operation, kind: 'status', status: 200, body });
    answer('getSession', {
      login: 700001,
      group: 'standard-usd',
      orders: [order],
      positions: [position],
    });
    answer('getOpenPositions', { positions: [position] });
    const app = await world.start();
    const { data } = await app.home();
    expect(data.positions).toMatchObject([position]);
    expect(data.orders).toMatchObject([order]);
    const requests = world.app.sandbox.calls();
    expect(app.cached('Position', 'same')).toMatchObject(position);
    expect(app.cached('Order', 'same')).toMatchObject(order);
    expect(app.cached('Position', 'none')).toBeNull();
    expect(world.app.sandbox.calls()).toBe(requests);
  });
}
