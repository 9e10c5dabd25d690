import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ApolloClient, TypedDocumentNode } from '@apollo/client';
import { parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp } from '../../../test/support/app.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { type WrittenChanges, writePositionChanges } from '../../src/apollo/write-changes.ts';
import { startCutProxy } from '../support/cut-proxy.ts';
import { runTool } from '../support/run-tool.ts';
import { createSampleProject, type SampleProject } from '../support/sample-project.ts';
import { type GuideApp, type Home, type Row, TEST_SESSION, testPromises } from './guide-world.ts';

const ENTRY = `
export { apollo } from './src/api';
export { apollo as ownLinks } from './src/own-links';
export { HOME } from './src/Home';
export { LIVE, PLACE, POSITIONS } from './src/documents';
export { trustedLink } from './src/trusted';
export { CombinedGraphQLErrors } from '@apollo/client';
`;

interface Page {
  readonly apollo: ApolloClient;
  readonly ownLinks: ApolloClient;
  readonly trustedLink: ApolloClient['link'];
  readonly HOME: TypedDocumentNode<Home>;
  readonly PLACE: TypedDocumentNode<{ placeOrder: unknown }, { input: object }>;
  readonly LIVE: TypedDocumentNode<{ positionChanges: WrittenChanges }>;
  readonly POSITIONS: TypedDocumentNode<{ positions: readonly Row[] | null }>;
  readonly CombinedGraphQLErrors: typeof import('@apollo/client').CombinedGraphQLErrors;
}

let project: SampleProject;

beforeAll(async () => {
  project = await createSampleProject('docs/clients/apollo.md', { 'src/session.ts': TEST_SESSION });
  project.write('entry.ts', ENTRY);
  await project.generate();
});
afterAll(() => project[Symbol.dispose]());

describe('an app by the guide of Apollo Client', () => testPromises(startApp));

const wait = globalThis.setTimeout;

/** Replaces globals, until it is disposed of. */
function replaced(names: Readonly<Record<string, unknown>>): Disposable {
  const before = Object.keys(names).map(
    (name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const,
  );
  for (const [name, value] of Object.entries(names))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  return {
    [Symbol.dispose]() {
      for (const [name, descriptor] of before) {
        if (descriptor) Object.defineProperty(globalThis, name, descriptor);
        else Reflect.deleteProperty(globalThis, name);
      }
    },
  };
}

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

async function startApp(): Promise<GuideApp> {
  const page = await project.load<Page>('entry.ts');
  const { apollo, HOME, PLACE, CombinedGraphQLErrors } = page;
  return {
    follow: () => follow(apollo, page),
    async home() {
      const { data, error } = await apollo.query({ query: HOME, errorPolicy: 'all' });
      if (!data) throw error ?? new Error('nothing came');
      const failed = CombinedGraphQLErrors.is(error)
        ? error.errors.map(({ path }) => path?.[0])
        : [];
      return { data, failed };
    },
    async place(input) {
      const { data } = await apollo.mutate({ mutation: PLACE, variables: { input } });
      return data?.placeOrder;
    },
    cached: (type, id) =>
      apollo.cache.readFragment<Row>({
        id: `${type}:${id}`,
        fragment: parse(
          `fragment Row on ${type} { id symbol units ${type === 'Position' ? 'profit' : ''} }`,
        ),
      }),
  };
}

describe("Apollo's own links, as the guide sets them up", () => {
  test('go on without a gap after a lost socket', async () => {
    await using app = await startTestApp({ POSITIONS_POLL_MS: '100' });
    const proxy = await startCutProxy(app.url);
    const token = app.sandbox.token({ email: 'demo@example.com' });
    Object.assign(globalThis, {
      graphqlUrl: `${proxy.url}/graphql`,
      session: { freshToken: () => token, signedOut() {} },
    });
    const page = await project.load<Page>('entry.ts');
    const following = follow(page.ownLinks, page);
    await eventually(() => following.rows.length === 6);
    proxy.cut();
    // While nobody listens a position opens.
    const input = '{ symbol: "AAPL", side: BUY, size: { units: 1 }, idempotencyKey: "own" }';
    await app.query(`mutation { placeOrder(input: ${input}) { __typename } }`, { token });
    await eventually(() => following.rows.length === 7);
    expect(following.snapshots.slice(1)).not.toContain(true);
    expect(proxy.upgrades).toBe(2);
    following.stop();
    const { data: home } = await page.ownLinks.query({ query: page.HOME });
    expect(home?.positions).toHaveLength(7);
    await proxy.close();
  });

  test.each([
    ['is found dead by its silence', { deadAfterMs: 1_000, isTold: false }],
    ['is left where the network is back', { deadAfterMs: 86_400_000, isTold: true }],
  ])('a line whose address has changed %s', async (_what, { deadAfterMs, isTold }) => {
    await using app = await startTestApp({ POSITIONS_POLL_MS: '100' }, { heartbeatMs: 200 });
    const proxy = await startCutProxy(app.url);
    const token = app.sandbox.token({ email: 'demo@example.com' });
    const windowOfPage = new EventTarget();
    using _ = replaced({
      addEventListener: windowOfPage.addEventListener.bind(windowOfPage),
      setTimeout: (task: () => void, ms = 0) => wait(task, ms === 25_000 ? deadAfterMs : ms),
    });
    Object.assign(globalThis, {
      graphqlUrl: `${proxy.url}/graphql`,
      session: { freshToken: () => token, signedOut() {} },
    });
    const page = await project.load<Page>('entry.ts');
    const following = follow(page.ownLinks, page);
    await eventually(() => following.snapshots.length > 1);
    proxy.strand();
    const events = following.snapshots.length;
    if (isTold) windowOfPage.dispatchEvent(new Event('online'));
    await eventually(() => following.snapshots.length > events + 1);
    expect(following.snapshots.slice(1)).not.toContain(true);
    expect(proxy.upgrades).toBe(2);
    following.stop();
    await proxy.close();
  });

  test('send nothing where the platform says that there is no network', async () => {
    await using app = await startTestApp();
    const proxy = await startCutProxy(app.url);
    const token = app.sandbox.token({ email: 'demo@example.com' });
    Object.assign(globalThis, {
      graphqlUrl: `${proxy.url}/graphql`,
      session: { freshToken: () => token, signedOut() {} },
    });
    const page = await project.load<Page>('entry.ts');
    using _ = replaced({ navigator: { onLine: false } });
    const input = { symbol: 'AAPL', side: 'BUY', size: { units: 1 }, idempotencyKey: 'offline' };
    const placing = page.ownLinks.mutate({ mutation: page.PLACE, variables: { input } });
    await expect(placing).rejects.toThrow('There is no network.');
    expect(proxy.accepted).toBe(0);
    await proxy.close();
  });

  test('give up where the token is dead', async () => {
    await using app = await startTestApp();
    const asked: boolean[] = [];
    let signedOut = 0;
    Object.assign(globalThis, {
      graphqlUrl: `${app.url}/graphql`,
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

test("the generator's ids go with Apollo's link, to a server that answers no other texts", async () => {
  const config = ['--config', 'codegen.trusted.ts'];
  await runTool('@graphql-codegen/cli/cjs/bin.js', config, project.folder);
  project.write('trusted-entry.ts', ENTRY);
  const own = join(import.meta.dirname, '..', '..', 'trusted-documents.json');
  const manifests = join(project.folder, 'manifests');
  mkdirSync(manifests);
  cpSync(own, join(manifests, 'client.json'));
  cpSync(join(project.folder, 'src/gql/persisted-documents.json'), join(manifests, 'app.json'));
  await using app = await startTestApp({
    PERSISTED_DOCUMENTS: manifests,
    PERSISTED_DOCUMENTS_ONLY: 'on',
  });
  const proxy = await startCutProxy(app.url);
  const token = app.sandbox.token({ email: 'demo@example.com' });
  Object.assign(globalThis, {
    graphqlUrl: `${proxy.url}/graphql`,
    session: { freshToken: () => token, signedOut() {} },
  });
  const page = await project.load<Page>('trusted-entry.ts');
  page.apollo.setLink(page.trustedLink);
  const { data } = await page.apollo.query({ query: page.HOME });
  expect(data?.positions).toHaveLength(6);
  expect(proxy.lastPath).toContain('documentId=');
  const [{ id } = { id: '' }] = data?.positions ?? [];
  expect(page.apollo.extract()).toHaveProperty([`Position:${id}`]);
  const input = { symbol: 'AAPL', side: 'BUY', size: { units: 1 }, idempotencyKey: 'trusted' };
  const placed = await page.apollo.mutate({ mutation: page.PLACE, variables: { input } });
  expect(placed.data?.placeOrder).toMatchObject({ __typename: 'OrderAccepted' });
  const following = follow(page.apollo, page);
  await eventually(() => following.rows.length === 7);
  following.stop();
  await proxy.close();
});
