import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { buildSchema, graphql } from 'graphql';
import { freePort } from './free-ports.ts';
import { listenLocally } from './local-server.ts';
import { temporaryFolder } from './own-folder.ts';
import { ownPackages } from './own-packages.ts';
import { startProgram } from './started-program.ts';

const root = join(import.meta.dirname, '..', '..');
const PAGE = readFileSync(join(root, 'docs', 'supergraph.md'), 'utf8');

export interface Subgraph {
  readonly name: string;
  readonly url: string;
  readonly sdl: string;
}

/** What `@apollo/composition` says of subgraphs; `errors` where there is no supergraph. */
interface Composition {
  readonly supergraphSdl: string;
  readonly errors?: readonly Error[];
  readonly hints: readonly object[];
}

export async function compose(subgraphs: readonly Subgraph[]): Promise<Composition> {
  const load = createRequire(join(await packages(), 'package.json'));
  const { parse } = load('graphql') as { parse(sdl: string): object };
  const { composeServices } = load('@apollo/composition') as {
    composeServices(services: readonly object[]): Composition;
  };
  const composition = composeServices(
    subgraphs.map(({ name, url, sdl }) => ({ name, url, typeDefs: parse(sdl) })),
  );
  const { errors = [] } = composition;
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
  return composition;
}

/** The service of another team on docs/supergraph.md, with a field of its own on our instruments, and what it was sent. */
export async function startNotes(notes: Readonly<Record<string, string>>) {
  const sdl = fenced('text');
  const schema = buildSchema(`
    directive @link(url: String!, import: [String!]) on SCHEMA
    directive @key(fields: String!) on OBJECT
    scalar _Any
    union _Entity = Instrument
    ${sdl}
    extend type Query { _entities(representations: [_Any!]!): [_Entity]! }
  `);
  const instrument = ({ id }: { readonly id: string }) => ({
    __typename: 'Instrument',
    id,
    note: notes[id] ?? null,
  });
  const rootValue = {
    noted: Object.keys(notes).map((id) => instrument({ id })),
    _entities: ({ representations }: { readonly representations: readonly { id: string }[] }) =>
      representations.map(instrument),
  };
  const received: IncomingHttpHeaders[] = [];
  const server = createServer(async (request, response) => {
    received.push(request.headers);
    const { query, variables } = JSON.parse(await text(request));
    const result = await graphql({ schema, source: query, variableValues: variables, rootValue });
    response.setHeader('content-type', 'application/json').end(JSON.stringify(result));
  });
  const listening = await listenLocally(server);
  return { ...listening, received, sdl };
}

/** Hive Gateway with the configuration of docs/supergraph.md. */
export async function startRouter(supergraphSdl: string) {
  const program = join(await packages(), 'node_modules/@graphql-hive/gateway/dist/bin.js');
  await using started = new AsyncDisposableStack();
  const folder = started.use(await temporaryFolder());
  writeFileSync(join(folder.path, 'gateway.config.mjs'), fenced('js'));
  writeFileSync(join(folder.path, 'supergraph.graphql'), supergraphSdl);
  const port = await freePort();
  const options = ['--host=127.0.0.1', `--port=${port}`, '--config-path=gateway.config.mjs'];
  const url = `http://127.0.0.1:${port}`;
  const isReady = async () => (await fetch(`${url}/readiness`)).ok;
  started.use(
    await startProgram(process.execPath, [program, 'supergraph', ...options], isReady, {
      cwd: folder.path,
      env: { HOME: folder.path, PATH: process.env.PATH },
    }),
  );
  const owned = started.move();
  return {
    url,
    webSocketUrl: `${url.replace('http', 'ws')}/graphql`,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** They are made for another major of GraphQL than ours. */
const packages = () => ownPackages(join(root, 'test', 'supergraph'));

/** The page's only block in that language. */
function fenced(language: string): string {
  const [, block] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(PAGE) ?? [];
  if (block === undefined) throw new Error(`docs/supergraph.md has no block of ${language}`);
  return block;
}
