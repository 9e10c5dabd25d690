import { readFileSync } from 'node:fs';
import { buildSchema, isObjectType } from 'graphql';
import type { Client, TypedDocumentNode } from 'urql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSampleProject, type SampleProject } from '../support/sample-project.ts';
import { type GuideApp, type Home, type Row, TEST_SESSION, testPromises } from './guide-world.ts';

const ENTRY = `
export { client } from './src/urql';
export { WITHOUT_ID } from './src/cache';
export { HOME } from './src/home';
export { PLACE } from './src/OrderForm';
export { LIVE, POSITIONS } from './src/Positions';
export { gql } from 'urql';
`;

interface Page {
  readonly client: Client;
  readonly WITHOUT_ID: readonly string[];
  readonly HOME: TypedDocumentNode<Home>;
  readonly PLACE: TypedDocumentNode<{ placeOrder: unknown }, { input: object }>;
  readonly LIVE: TypedDocumentNode<{ positionChanges: { snapshot: boolean } }>;
  readonly POSITIONS: TypedDocumentNode<{ positions: readonly Row[] | null }>;
  readonly gql: (text: string) => TypedDocumentNode<Record<string, Row | null>, { id: string }>;
}

let project: SampleProject;

beforeAll(async () => {
  project = await createSampleProject('docs/clients/urql.md', { 'src/session.ts': TEST_SESSION });
  project.write('entry.ts', ENTRY);
});
afterAll(() => project[Symbol.dispose]());

describe('an app by the guide of urql', () => testPromises(startApp));

test('the guide names the types without an id', async () => {
  const schema = buildSchema(
    readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8'),
  );
  const roots = ['Query', 'Mutation', 'Subscription'];
  const names = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !('id' in type.getFields()))
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('__') && !roots.includes(name));
  const { WITHOUT_ID } = await project.load<Page>('entry.ts');
  expect(WITHOUT_ID).toEqual(names.toSorted());
});

async function startApp(): Promise<GuideApp> {
  const { client, HOME, PLACE, LIVE, POSITIONS, gql } = await project.load<Page>('entry.ts');
  return {
    follow() {
      const following = {
        rows: [] as readonly Row[],
        snapshots: [] as boolean[],
        error: null as unknown,
      };
      const live = client.subscription(LIVE, {}).subscribe(({ data, error }) => {
        if (error) following.error = error;
        else if (data) following.snapshots.push(data.positionChanges.snapshot);
      });
      const list = client.query(POSITIONS, {}).subscribe(({ data }) => {
        following.rows = data?.positions ?? [];
      });
      return Object.assign(following, {
        stop() {
          live.unsubscribe();
          list.unsubscribe();
        },
      });
    },
    async home() {
      const { data, error } = await client.query(HOME, {}).toPromise();
      const failed = error?.graphQLErrors.flatMap(({ path, extensions }) =>
        extensions.code === 'GATEWAY_UNAVAILABLE' ? [path?.[0]] : [],
      );
      if (!data) throw error ?? new Error('nothing came');
      return { data, failed: failed ?? [] };
    },
    async place(input) {
      const { data } = await client.mutation(PLACE, { input }).toPromise();
      return data?.placeOrder;
    },
    cached(type, id) {
      const field = type.toLowerCase();
      const one = gql(
        `query One($id: ID!) { ${field}(id: $id) { id symbol units ${type === 'Position' ? 'profit' : ''} } }`,
      );
      return client.readQuery(one, { id })?.data?.[field] ?? null;
    },
  };
}
