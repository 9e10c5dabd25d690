import { createServer } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { expect, test, vi } from 'vitest';
import type { OtherPlugin } from '../../../engine/index.ts';
import { startTestApp } from '../../support/app.ts';
import { send, TRANSPORTS } from '../../support/four-transports.ts';
import { listenLocally } from '../../support/local-server.ts';
import { ownPackages } from '../../support/own-packages.ts';

// npm installs some packages.
vi.setConfig({ testTimeout: 120_000 });

/** What `@graphql-hive/envelop` has, whose peer range ends before the GraphQL of this project. */
interface Hive {
  createHive(options: object): { dispose(): Promise<void> };
  useHive(client: object): OtherPlugin;
}

interface Report {
  readonly map: Readonly<Record<string, { operation: string; fields: readonly string[] }>>;
  readonly operations?: readonly {
    readonly operationMapKey: string;
    readonly execution: { readonly ok: boolean; readonly errorsTotal: number };
    readonly metadata: { readonly client?: { readonly name: string } };
  }[];
  readonly subscriptionOperations?: readonly object[];
}

/** Stands where Hive would take reports of usage. */
async function startHive() {
  const reports: Report[] = [];
  const tokens = new Set<string | undefined>();
  const server = createServer(async (request, response) => {
    tokens.add(request.headers.authorization);
    reports.push((await json(request)) as Report);
    response.setHeader('content-type', 'application/json').end('{"id":"1"}');
  });
  return { ...(await listenLocally(server)), reports, tokens };
}

test('hive is told of each operation with its fields, and of no literal', async () => {
  const folder = await ownPackages(join(import.meta.dirname, '../../hive'));
  const entry = join(folder, 'node_modules/@graphql-hive/envelop/esm/index.js');
  const { createHive, useHive } = (await import(pathToFileURL(entry).href)) as Hive;
  await using server = await startHive();
  const hive = createHive({
    token: 'of-hive',
    autoDispose: false,
    selfHosting: { usageEndpoint: `${server.url}/usage` },
    usage: {
      clientInfo: ({ request }: { readonly request?: Request }) => {
        const name = request?.headers.get('apollographql-client-name');
        return name ? { name, version: '1' } : null;
      },
    },
  });
  {
    await using app = await startTestApp({}, { plugins: [useHive(hive)] });
    const token = await app.signIn();
    const headers = { 'apollographql-client-name': 'web' };
    const asked = 'query Asked { instrument(id: "MSFT") { name } }';
    for (const transport of TRANSPORTS) {
      const { data } = await send(app, transport, asked, { token, headers });
      expect(data.instrument.name).toBe('Microsoft Corporation');
    }
    await app.query('query Failing { session(maxAge: -1) { balance } }', { token });
    const live = 'subscription Live { positionChanges { cursor } }';
    expect((await send(app, 'event stream', live, { token })).data.positionChanges).not.toBeNull();
  }
  await hive.dispose();
  const { reports, tokens } = server;
  expect([...tokens]).toEqual(['Bearer of-hive']);
  const map = Object.assign({}, ...reports.map((report) => report.map)) as Report['map'];
  const operations = reports.flatMap((report) => report.operations ?? []);
  const told = (field: string) =>
    operations.filter(({ operationMapKey }) => map[operationMapKey]?.fields.includes(field));
  const asked = told('Query.instrument');
  expect(asked.map(({ execution }) => execution.ok)).toEqual(TRANSPORTS.map(() => true));
  expect(map[asked[0]?.operationMapKey ?? '']?.fields).toContain('Instrument.name');
  // A WebSocket has no request.
  expect(asked.filter(({ metadata }) => metadata.client?.name === 'web')).toHaveLength(3);
  expect(told('Session.balance').map(({ execution }) => execution)).toMatchObject([
    { ok: false, errorsTotal: 1 },
  ]);
  expect(reports.flatMap((report) => report.subscriptionOperations ?? [])).toHaveLength(1);
  expect(JSON.stringify(reports)).not.toMatch(/MSFT|demo@example/);
});
