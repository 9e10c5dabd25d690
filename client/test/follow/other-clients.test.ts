import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { build, preview } from 'vite';
import { expect, test, vi } from 'vitest';
import { startTestApp } from '../../../test/support/app.ts';
import { describeInBrowser } from '../../../test/support/describe-in-browser.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startedOnce } from '../../../test/support/started.ts';
import type { PositionsState } from '../../src/follow.ts';
import { signedIn } from '../support/client.ts';
import { startCutProxy } from '../support/cut-proxy.ts';
import { createApp, packagesOf } from '../support/installed-app.ts';
import { runTool } from '../support/run-tool.ts';
import { namedSamples } from '../support/samples.ts';

// npm installs the packages, and the service is away for a minute.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 600_000 });

/** The networks of apps with other clients. Their pages have the calls of `follow`. */
const NETWORKS = {
  apollo: `import { ApolloClient, gql, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
const apollo = new ApolloClient({ link: new GraphQLWsLink(socket), cache: new InMemoryCache() });`,
  urql: `import { Client, subscriptionExchange } from '@urql/core';
const network = subscriptionExchange({
  forwardSubscription: ({ query = '', variables = {} }) => ({
    subscribe: ({ next, error, complete }) => ({
      unsubscribe: socket.subscribe({ query, variables }, { next: (result) => next(result as object), error, complete }),
    }),
  }),
});
const urql = new Client({ url: 'unused', preferGetMethod: false, exchanges: [network] });`,
  relay: `import { type GraphQLResponse, Network, Observable } from 'relay-runtime';
const network = Network.create(
  () => Promise.reject(new Error('This network has subscriptions alone.')),
  ({ text }, variables) =>
    Observable.create<GraphQLResponse>((sink) =>
      socket.subscribe({ query: text ?? '', variables }, {
        next: (result) => sink.next(result as GraphQLResponse),
        error: (error) => sink.error(error as Error),
        complete: () => sink.complete(),
      }),
    ),
);`,
} as const;
const CLIENTS = ['graphql-ws', 'apollo', 'urql', 'relay'] as const;
const root = join(import.meta.dirname, '..', '..', '..');
const AWAY_MS = 16_000;
const SILENT_MS = 45_000;
const { packages, reason } = await packagesOf(join(import.meta.dirname, 'follow-packages'));

interface Seen {
  readonly status: PositionsState['status'];
  /** Milliseconds since the page was opened. */
  readonly at: number;
}

declare global {
  interface Window {
    readonly shown: { readonly seen: readonly Seen[]; readonly rows: PositionsState['positions'] };
  }
}

const MAIN = `
const files = import.meta.glob('./live-*.ts');
const { searchParams } = new URL(location.href);
const shown = { seen: [], rows: null };
Object.assign(window, { shown, freshToken: async () => searchParams.get('token') });
const { followLive } = await files[\`./live-\${searchParams.get('with')}.ts\`]();
followLive({
  onChange({ status, positions }) {
    shown.rows = positions;
    if (shown.seen.at(-1)?.status !== status) shown.seen.push({ status, at: performance.now() });
  },
});
`;

/** The samples of the page on live data, built as an app, behind a network that can be cut. */
async function startSamples() {
  await using started = new AsyncDisposableStack();
  const app = started.use(await startTestApp({ SANDBOX_TICK_MS: '500', POSITIONS_POLL_MS: '500' }));
  const line = started.adopt(await startCutProxy(app.url), (proxy) => proxy.close());
  const project = started.use(createApp(packages));
  const sample = namedSamples('docs/live.md').get('src/live.ts')?.text ?? '';
  const url = line.url.replace('http', 'ws');
  project.write('src/live-graphql-ws.ts', sample.replace('wss://example.com', url));
  for (const [name, network] of Object.entries(NETWORKS)) {
    const page = readFileSync(join(root, `docs/${name}.md`), 'utf8');
    const [, call = ''] = /`(follow\(.+\))`/.exec(page) ?? [];
    project.write(
      `src/live-${name}.ts`,
      `import { type FollowOptions, follow } from 'trading-graph-client/follow';
import { socket } from './live-graphql-ws';
${network}
export const followLive = ({ onChange }: FollowOptions) => ${call};`,
    );
  }
  project.write('src/globals.d.ts', 'declare function freshToken(): Promise<string>;');
  project.write('tsconfig.json', JSON.stringify({ compilerOptions: OPTIONS, include: ['src'] }));
  project.write('src/main.js', MAIN);
  project.write('index.html', '<script type="module" src="/src/main.js"></script>');
  await project.install();
  await runTool('typescript/bin/tsc', ['-p', project.folder]);
  await build({ root: project.folder, logLevel: 'warn', build: { target: 'esnext' } });
  const server = started.adopt(
    await preview({
      root: project.folder,
      logLevel: 'warn',
      preview: { host: '127.0.0.1', port: 0 },
    }),
    (previewed) => previewed.close(),
  );
  const { port } = server.httpServer.address() as AddressInfo;
  const token = signedIn(app).token();
  const owned = started.move();
  return {
    line,
    url: (client: string) =>
      `http://127.0.0.1:${port}/?${new URLSearchParams({ with: client, token })}`,
    positions: async () =>
      (await app.query('{ positions { id profit } }', { token })).data.positions,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const OPTIONS = {
  target: 'es2024',
  lib: ['ES2024', 'DOM'],
  module: 'esnext',
  moduleResolution: 'bundler',
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  noEmit: true,
};

describeInBrowser(`positions by other clients${reason}`, (browser) => {
  const samples = startedOnce(startSamples);

  test.skipIf(reason !== '').each([
    ['the service is away for 16 s', AWAY_MS, () => samples.line.refuse()],
    ['the line is silent for 45 s', SILENT_MS, () => samples.line.silence()],
  ])(
    '%s: OFFLINE within 10 s, LIVE within 10 s of the return, with the rows of a query',
    async (_, ms, cut) => {
      await using opened = await openPages();
      const { pages } = opened;
      await Promise.all(pages.map(async ({ shows }) => shows('LIVE')));
      // The market moves, so that the pauses between events are known.
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      const cutAt = await Promise.all(pages.map(({ now }) => now()));
      await cut();
      await new Promise((resolve) => setTimeout(resolve, ms));
      const backAt = await Promise.all(pages.map(({ now }) => now()));
      await samples.line.heal();
      await Promise.all(
        pages.map(async ({ client, shows, seen }, index) => {
          await shows('LIVE');
          const changes = (await seen()).filter(({ at }) => at > (cutAt[index] ?? 0));
          const [offline, live] = changes;
          const took = [offline?.at, live?.at].map((at, way) =>
            Math.round((at ?? 0) - ([cutAt, backAt][way]?.[index] ?? 0)),
          );
          console.log(`${client}: OFFLINE after ${took[0]} ms, LIVE after ${took[1]} ms`);
          expect(
            changes.map(({ status }) => status),
            client,
          ).toEqual(['OFFLINE', 'LIVE']);
          expect(took[0], client).toBeLessThan(10_000);
          expect(took[1], client).toBeLessThan(10_000);
        }),
      );
      for (const { page, client } of pages)
        await eventually(async () => {
          const rows = await page.evaluate(() => window.shown.rows);
          expect(
            rows?.map(({ id, profit }) => ({ id, profit })),
            client,
          ).toEqual(await samples.positions());
        });
    },
  );

  /** A page for each client. */
  async function openPages() {
    const context = await browser.newContext();
    const pages = await Promise.all(
      CLIENTS.map(async (client) => {
        const page: Page = await context.newPage();
        await page.goto(samples.url(client));
        const seen = () => page.evaluate(() => window.shown.seen);
        return {
          client,
          page,
          seen,
          now: () => page.evaluate(() => performance.now()),
          shows: (status: string) =>
            eventually(async () => expect((await seen()).at(-1)).toMatchObject({ status })),
        };
      }),
    );
    return { pages, [Symbol.asyncDispose]: () => context.close() };
  }
});
