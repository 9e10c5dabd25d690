import { type ApolloClient, gql, type TypedDocumentNode } from '@apollo/client';
import { describe, expect, test, vi } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startHeldGateway } from '../../../test/support/held-gateway.ts';
import { startedOnce } from '../../../test/support/started.ts';
import { type WrittenChanges, writePositionChanges } from '../../src/apollo/write-changes.ts';
import type { Client } from '../../src/create-client.ts';
import { runTool } from '../support/run-tool.ts';
import { createSampleProject } from '../support/sample-project.ts';
import {
  type GuideWorld,
  type Home,
  type Row,
  startGuideWorld,
  TEST_SESSION,
  trustedAlone,
} from './guide-world.ts';

const ENTRY = `
export { apollo } from './src/api';
export { apollo as ownLinks } from './src/own-links';
export { HOME } from './src/Home';
export { LIVE, POSITIONS } from './src/documents';
export { tradingGraph } from './src/trading-graph';
export { trustedLink } from './src/trusted';
`;

interface Page {
  readonly apollo: ApolloClient;
  readonly ownLinks: ApolloClient;
  readonly tradingGraph: Client;
  readonly trustedLink: ApolloClient['link'];
  readonly HOME: TypedDocumentNode<Home>;
  readonly LIVE: TypedDocumentNode<{ positionChanges: WrittenChanges }>;
  readonly POSITIONS: TypedDocumentNode<{ positions: readonly Row[] | null }>;
}

const PLACE = gql`mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { __typename } }`;

const project = startedOnce(async () => {
  const made = await createSampleProject('docs/clients/apollo.md', {
    'src/session.ts': TEST_SESSION,
    'entry.ts': ENTRY,
  });
  await made.generate();
  return made;
});

const wait = globalThis.setTimeout;

function follow(apollo: ApolloClient, { LIVE, POSITIONS }: Page) {
  const following = {
    rows: [] as readonly Row[],
    snapshots: [] as boolean[],
    error: null as unknown,
  };
  const live = apollo.subscribe({ query: LIVE }).subscribe(({ data, error }) => {
    if (error) following.error = error;
    if (!data) return;
    following.snapshots.push(data.positionChanges.snapshot);
    writePositionChanges(apollo.cache, data.positionChanges);
  });
  const list = apollo
    .watchQuery({ query: POSITIONS, fetchPolicy: 'cache-only' })
    .subscribe(({ data }) => {
      following.rows = (data as { positions: readonly Row[] } | undefined)?.positions ?? [];
    });
  return Object.assign(following, {
    stop() {
      live.unsubscribe();
      list.unsubscribe();
    },
  });
}

describe("Apollo's own links, as the guide sets them up", () => {
  test.each<[string, number, (world: GuideWorld, page: EventTarget) => void]>([
    ['is cut', 86_400_000, ({ proxy }) => proxy.cut()],
    ['is found dead by its silence', 1_000, ({ proxy }) => proxy.strand()],
    [
      'is left where the network is back',
      86_400_000,
      ({ proxy }, page) => {
        proxy.strand();
        page.dispatchEvent(new Event('online'));
      },
    ],
  ])('go on without a gap after a line that %s', async (_how, deadAfterMs, lose) => {
    await using world = await startGuideWorld({}, { heartbeatMs: 200 });
    const { app, proxy, token } = world;
    const windowOfPage = new EventTarget();
    vi.stubGlobal('addEventListener', windowOfPage.addEventListener.bind(windowOfPage));
    vi.stubGlobal('setTimeout', (task: () => void, ms = 0) =>
      wait(task, ms === 25_000 ? deadAfterMs : ms),
    );
    const page = await project.load<Page>('entry.ts');
    const following = follow(page.ownLinks, page);
    await eventually(() => expect(following.rows).toHaveLength(6));
    lose(world, windowOfPage);
    // While nobody listens a position opens.
    const input =
      '{ symbol: "AAPL", side: BUY, kind: MARKET, size: { units: 1 }, idempotencyKey: "own" }';
    await app.query(`mutation { placeOrder(input: ${input}) { __typename } }`, { token });
    await eventually(() => expect(following.rows).toHaveLength(7));
    expect(following.snapshots.slice(1)).not.toContain(true);
    expect(proxy.upgrades).toBe(2);
    following.stop();
    const { data: home } = await page.ownLinks.query({ query: page.HOME });
    expect(home?.positions).toHaveLength(7);
  });

  test.each(['apollo', 'ownLinks'] as const)(
    'draw the first screen by %s before its deferred part is there',
    async (name) => {
      await using sandbox = await startSandbox({ tickMs: 0 });
      await using gateway = await startHeldGateway(sandbox);
      const settings = { GATEWAY_URL: gateway.url, GATEWAY_TIMEOUT_MS: '60000' };
      await using _world = await startGuideWorld(settings, { gateway: sandbox });
      const page = await project.load<Page>('entry.ts');
      gateway.hold(/withdrawal/);
      const drawn: unknown[] = [];
      page[name].watchQuery({ query: page.HOME }).subscribe(({ data }) => data && drawn.push(data));
      await eventually(() => drawn.length > 0 && gateway.waiting > 0);
      expect(drawn.at(-1)).not.toHaveProperty('withdrawalMethods');
      gateway.release();
      await eventually(() =>
        expect(drawn.at(-1)).toMatchObject({ withdrawalMethods: [{ title: 'Bank account' }] }),
      );
    },
  );

  test('send nothing where the platform says that there is no network', async () => {
    await using world = await startGuideWorld();
    const { proxy } = world;
    const page = await project.load<Page>('entry.ts');
    vi.stubGlobal('navigator', { onLine: false });
    const input = {
      symbol: 'AAPL',
      side: 'BUY',
      kind: 'MARKET',
      size: { units: 1 },
      idempotencyKey: 'offline',
    };
    const placing = page.ownLinks.mutate({ mutation: PLACE, variables: { input } });
    await expect(placing).rejects.toThrow('There is no network.');
    expect(proxy.accepted).toBe(0);
  });

  test('give up where the token is dead', async () => {
    await using _world = await startGuideWorld();
    const asked: boolean[] = [];
    let signedOut = 0;
    Object.assign(globalThis, {
      session: {
        freshToken({ force }: { force: boolean }) {
          asked.push(force);
          return 'dead';
        },
        signedOut() {
          signedOut += 1;
        },
      },
    });
    const page = await project.load<Page>('entry.ts');
    const following = follow(page.ownLinks, page);
    await eventually(() => following.error !== null);
    expect(asked).toEqual([false, true]);
    expect(signedOut).toBe(1);
    following.stop();
  });
});

test('the next account finds nothing of the former one in the cache', async () => {
  await using world = await startGuideWorld();
  const page = await project.load<Page>('entry.ts');
  const { apollo, tradingGraph } = page;
  const following = follow(apollo, page);
  await eventually(() => expect(following.rows).toHaveLength(6));
  const asked = () => Object.keys(apollo.extract() as object);
  await apollo.query({ query: page.HOME });
  expect(asked()).toContain('Session:{}');
  const token = world.app.sandbox.token({ email: 'fresh@example.com' });
  Object.assign(globalThis, { session: { freshToken: () => token, signedOut() {} } });
  await tradingGraph.tokenChanged();
  await eventually(() => expect(asked()).not.toContain('Session:{}'));
  following.stop();
});

test("the generator's ids go with Apollo's link, to a server that answers no other texts", async () => {
  const config = ['--config', 'codegen.trusted.ts'];
  await runTool('@graphql-codegen/cli/cjs/bin.js', config, project.folder);
  project.write('trusted-entry.ts', ENTRY);
  const manifest = 'src/gql/persisted-documents.json';
  await using world = await startGuideWorld(trustedAlone(project, manifest));
  const { proxy } = world;
  const page = await project.load<Page>('trusted-entry.ts');
  page.apollo.setLink(page.trustedLink);
  const { data } = await page.apollo.query({ query: page.HOME });
  expect(data?.positions).toHaveLength(6);
  expect(proxy.lastPath).toContain('documentId=');
  const [{ id } = { id: '' }] = data?.positions ?? [];
  expect(page.apollo.extract()).toHaveProperty([`Position:${id}`]);
  const following = follow(page.apollo, page);
  await eventually(() => expect(following.rows).toHaveLength(6));
  following.stop();
});
