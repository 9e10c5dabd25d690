import type {
  ConcreteRequest,
  Environment,
  GraphQLTaggedNode,
  OperationDescriptor,
  RecordSourceSelectorProxy,
  Snapshot,
} from 'relay-runtime';
import { afterAll, beforeAll, describe } from 'vitest';
import { createSampleProject, type SampleProject } from '../support/sample-project.ts';
import { type GuideApp, type Home, type Row, TEST_SESSION, testPromises } from './guide-world.ts';

const BY_ID = `
import { graphql } from 'relay-runtime';
export const ONE_POSITION = graphql\`
  query rowsByIdPositionQuery($id: ID!) { position(id: $id) { id symbol units profit } }
\`;
export const ONE_ORDER = graphql\`
  query rowsByIdOrderQuery($id: ID!) { order(id: $id) { id symbol units } }
\`;
`;

const ENTRY = `
export { ONE_ORDER, ONE_POSITION } from './src/rowsById';
export { environment } from './src/relay';
export { HOME } from './src/home';
export { LIVE, foldPositions } from './src/live';
export { PLACE } from './src/OrderForm';
export { POSITIONS } from './src/Positions';
export { commitMutation, createOperationDescriptor, fetchQuery, getRequest, requestSubscription } from 'relay-runtime';
`;

type Relay = typeof import('relay-runtime');

interface Page
  extends Pick<
    Relay,
    | 'commitMutation'
    | 'createOperationDescriptor'
    | 'fetchQuery'
    | 'getRequest'
    | 'requestSubscription'
  > {
  readonly environment: Environment;
  readonly HOME: GraphQLTaggedNode;
  readonly LIVE: GraphQLTaggedNode;
  readonly PLACE: GraphQLTaggedNode;
  readonly POSITIONS: GraphQLTaggedNode;
  readonly ONE_POSITION: GraphQLTaggedNode;
  readonly ONE_ORDER: GraphQLTaggedNode;
  readonly foldPositions: (store: RecordSourceSelectorProxy, data: unknown) => void;
}

let project: SampleProject;

beforeAll(async () => {
  project = await createSampleProject('docs/clients/relay.md', { 'src/session.ts': TEST_SESSION });
  project.write('src/rowsById.ts', BY_ID);
  project.write('entry.ts', ENTRY);
  await project.generate();
});
afterAll(() => project[Symbol.dispose]());

describe('an app by the guide of Relay', () => testPromises(startApp));

async function startApp(): Promise<GuideApp> {
  const page = await project.load<Page>('entry.ts');
  const { environment } = page;
  const describeOperation = (node: GraphQLTaggedNode, variables = {}): OperationDescriptor =>
    page.createOperationDescriptor(page.getRequest(node) as ConcreteRequest, variables);
  return {
    follow() {
      const operation = describeOperation(page.POSITIONS);
      const retained = environment.retain(operation);
      const following = {
        rows: [] as readonly Row[],
        snapshots: [] as boolean[],
        error: null as unknown,
      };
      const show = ({ data }: Snapshot) => {
        const { positions } = data as unknown as { positions: readonly Row[] | null };
        following.rows = positions ?? [];
      };
      const shown = environment.subscribe(environment.lookup(operation.fragment), show);
      const query = page.fetchQuery(environment, page.POSITIONS, {}).subscribe({ error: () => {} });
      const live = page.requestSubscription<{
        readonly variables: object;
        readonly response: { readonly positionChanges: { readonly snapshot: boolean } };
      }>(environment, {
        subscription: page.LIVE,
        variables: {},
        updater: page.foldPositions,
        onNext: (data) => void following.snapshots.push(data?.positionChanges.snapshot ?? false),
        onError: (error) => {
          following.error = error;
        },
      });
      return Object.assign(following, {
        stop() {
          live.dispose();
          query.unsubscribe();
          shown.dispose();
          retained.dispose();
        },
      });
    },
    async home() {
      const data = (await page.fetchQuery(environment, page.HOME, {}).toPromise()) as Home & {
        withdrawalMethods: { ok: boolean; errors?: readonly unknown[] };
      };
      environment.retain(describeOperation(page.HOME));
      return { data, failed: data.withdrawalMethods.ok ? [] : ['withdrawalMethods'] };
    },
    place: (input) =>
      new Promise((resolve, reject) => {
        page.commitMutation<{
          readonly variables: { readonly input: object };
          readonly response: { readonly placeOrder: unknown };
        }>(environment, {
          mutation: page.PLACE,
          variables: { input },
          onCompleted: ({ placeOrder }) => resolve(placeOrder),
          onError: reject,
        });
      }),
    cached(type, id) {
      const node = type === 'Position' ? page.ONE_POSITION : page.ONE_ORDER;
      const operation = describeOperation(node, { id });
      if (environment.check(operation).status !== 'available') return null;
      const data = environment.lookup(operation.fragment).data as Record<string, Row | null>;
      return data[type.toLowerCase()] ?? null;
    },
  };
}
