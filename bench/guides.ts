/** What users of apps that are made by the guides see where the phone's address changes, or in flight mode. A part of `npm run bench -- lines`. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ApolloClient, DocumentNode } from '@apollo/client';
import { browserEnvironment } from '../client/src/browser-environment.ts';
import { createClient } from '../client/src/create-client.ts';
import { type CutProxy, startCutProxy } from '../client/test/support/cut-proxy.ts';
import { createSampleProject } from '../client/test/support/sample-project.ts';
import type { Sandbox } from '../src/sandbox/start.ts';
import { eventually } from '../test/support/eventually.ts';
import { javacPath } from '../test/support/machine.ts';

export const GUIDES_HEAD = ['what happens', 'in an app', 'it shows'];

const STRANDED = 'the address changes, and nobody says so';
const TICKER = join(import.meta.dirname, '..', 'examples', 'jvm', 'Ticker.java');
const SESSION = `
declare global { var graphqlUrl: string; var ownToken: string }
export const freshToken = () => globalThis.ownToken;
export const signedOut = () => {};
export const keepToken = (_given: string | null) => {};
`;
const ENTRY = `
import { gql } from '@apollo/client';
export { apollo } from './src/own-links';
export const LIVE = gql('subscription ($after: String) { positionChanges(after: $after, intervalMs: 1000) { cursor } }');
`;

export async function measureGuides(service: string, sandbox: Sandbox): Promise<string[][]> {
  const rows = [await stranded(service, (line) => followByApollo(line, sandbox))];
  if (javacPath !== null) rows.push(await stranded(service, followByJava));
  return [...rows, await buyOffline(service, sandbox)];
}

interface Follower extends AsyncDisposable {
  readonly name: string;
  /** How many events have come. */
  events(): number;
}

/** The time until the first event of another line. */
async function stranded(
  service: string,
  follow: (line: CutProxy) => Promise<Follower>,
): Promise<string[]> {
  const line = await startCutProxy(service);
  await using follower = await follow(line);
  await eventually(() => follower.events() > 1);
  line.strand();
  const events = follower.events();
  const beganAt = performance.now();
  await eventually(() => follower.events() > events, { withinMs: 150_000 });
  const waited = (performance.now() - beganAt) / 1_000;
  await line.close();
  return [STRANDED, follower.name, `LIVE again after ${waited.toFixed(1)} s`];
}

/** By Apollo's own links, as the guide sets them up. */
async function followByApollo(line: CutProxy, sandbox: Sandbox): Promise<Follower> {
  const project = await createSampleProject('docs/clients/apollo.md', {
    'src/session.ts': SESSION,
  });
  project.write('entry.ts', ENTRY);
  const token = sandbox.token({ email: 'demo@example.com' });
  Object.assign(globalThis, { graphqlUrl: `${line.url}/graphql`, ownToken: token });
  const { apollo, LIVE } = await project.load<{ apollo: ApolloClient; LIVE: DocumentNode }>(
    'entry.ts',
  );
  let events = 0;
  const live = apollo.subscribe({ query: LIVE }).subscribe(() => {
    events += 1;
  });
  return {
    name: 'Apollo Client with its own links',
    events: () => events,
    async [Symbol.asyncDispose]() {
      live.unsubscribe();
      project[Symbol.dispose]();
    },
  };
}

/** By the JDK alone, as the native guide has it in Kotlin and in Swift. */
async function followByJava(line: CutProxy): Promise<Follower> {
  const orders = mkdtempSync(join(tmpdir(), 'bench-orders-'));
  const child = spawn(join(dirname(javacPath ?? ''), 'java'), [TICKER], {
    env: { TRADING_GRAPH_URL: `${line.url}/graphql`, TRADING_GRAPH_ORDERS: orders },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (text) => {
    out += text;
  });
  return {
    name: 'Java, after which Kotlin and Swift are written',
    events: () => out.match(/^LIVE/gm)?.length ?? 0,
    async [Symbol.asyncDispose]() {
      child.kill();
      rmSync(orders, { recursive: true });
    },
  };
}

/** As the guide of React Native has it: `isOnline` is NetInfo's word. */
async function buyOffline(service: string, sandbox: Sandbox): Promise<string[]> {
  const line = await startCutProxy(service);
  const token = sandbox.token({ email: 'demo@example.com' });
  let isOnline = true;
  const { lifecycle } = browserEnvironment();
  const client = createClient({
    url: `${line.url}/graphql`,
    token: () => token,
    environment: {
      lifecycle: {
        isVisible: true,
        get isOnline() {
          return isOnline;
        },
        onReturn: lifecycle.onReturn,
        onHide: lifecycle.onHide,
      },
    },
  });
  await client.query('{ session { login } }');
  isOnline = false;
  line.stall();
  const beganAt = performance.now();
  const order = { symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units: 1 } } as const;
  const { status } = await client.orders.ticket().place(order);
  const waited = (performance.now() - beganAt) / 1_000;
  client.dispose();
  await line.close();
  return ['flight mode, Buy', 'React Native', `\`${status}\` after ${waited.toFixed(1)} s`];
}
