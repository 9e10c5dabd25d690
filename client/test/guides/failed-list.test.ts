import { expect, test, vi } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { createSampleProject } from '../support/sample-project.ts';
import { type Row, startGuideWorld, TEST_SESSION } from './guide-world.ts';

const URQL = `
import { client } from './src/urql';
import { LIVE, POSITIONS } from './src/Positions';
export const follow = (next: (status: string) => void) =>
  client.subscription(LIVE, {}).subscribe(({ data }) => data && next(data.positionChanges.status));
export const ask = () => client.query(POSITIONS, {}, { requestPolicy: 'network-only' }).toPromise();
export const shown = () => client.readQuery(POSITIONS, {})?.data?.positions ?? null;
`;

const RELAY = `
import { createOperationDescriptor, fetchQuery, getRequest, requestSubscription } from 'relay-runtime';
import { foldPositions, LIVE } from './src/live';
import { POSITIONS } from './src/Positions';
import { environment } from './src/relay';
const positions = createOperationDescriptor(getRequest(POSITIONS), {});
environment.retain(positions);
export const follow = (next: (status: string) => void) =>
  requestSubscription(environment, {
    subscription: LIVE, variables: {}, updater: foldPositions,
    onNext: (data) => next(data.positionChanges.status),
  });
export const ask = () => fetchQuery(environment, POSITIONS, {}).toPromise();
export const shown = () => environment.lookup(positions.fragment).data.positions ?? null;
`;

interface App {
  follow(next: (status: string) => void): unknown;
  ask(): Promise<unknown>;
  shown(): readonly Row[] | null;
}

test.each([
  ['urql', URQL],
  ['relay', RELAY],
])('in %s changes are no list where the query of the list has failed', async (guide, entry) => {
  await using project = await createSampleProject(`docs/clients/${guide}.md`, {
    'src/session.ts': TEST_SESSION,
    'entry.ts': entry,
  });
  await project.generate();
  await using world = await startGuideWorld();
  const { app, token } = world;
  const { follow, ask, shown } = await project.load<App>('entry.ts');
  const statuses: string[] = [];
  follow((status) => statuses.push(status));
  await eventually(() => expect(shown()).toHaveLength(6));
  const extensions = { code: 'GATEWAY_UNAVAILABLE', retryable: false };
  const errors = [{ message: 'No answer.', path: ['positions'], extensions }];
  vi.stubGlobal('fetch', async () => Response.json({ data: { positions: null }, errors }));
  await ask();
  vi.unstubAllGlobals();
  expect(shown()).toBeNull();
  const before = statuses.length;
  const input =
    '{ symbol: "AAPL", side: BUY, kind: MARKET, size: { units: 1 }, idempotencyKey: "opened" }';
  await app.query(`mutation { placeOrder(input: ${input}) { __typename } }`, { token });
  await eventually(() => statuses.slice(before).includes('LIVE'));
  expect(shown()).toBeNull();
});
