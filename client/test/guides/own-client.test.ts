import { expect, test } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import type { Client } from '../../src/index.ts';
import { createSampleProject } from '../support/sample-project.ts';
import { startGuideWorld, TEST_SESSION } from './guide-world.ts';

const PLACE = `mutation Place($input: PlaceOrderInput!) {
  placeOrder(input: $input) { __typename ... on OrderOutcome { idempotencyKey } }
}`;

test('an order that has no answer is closed, and cannot be placed later', async () => {
  await using project = await createSampleProject('docs/clients/README.md', {
    'src/session.ts': TEST_SESSION,
  });
  await using world = await startGuideWorld();
  project.write(
    'entry.ts',
    "export * from './src/place-to-its-end'; export * from './src/trading-graph';",
  );
  const { placeToItsEnd, tradingGraph } = await project.load<{
    placeToItsEnd(send: () => Promise<null>, key: string, since: Date): Promise<unknown>;
    tradingGraph: Client;
  }>('entry.ts');
  let sent = 0;
  const lost = async () => {
    sent += 1;
    throw new Error('no answer');
  };
  const closed = { __typename: 'OrderRejected', idempotencyKey: 'lost' };
  // By the clock of the service, whose records begin with it: the date may have been set back meanwhile.
  const since = new Date(systemClock.now() + 1_000);
  expect(await placeToItsEnd(lost, 'lost', since)).toMatchObject(closed);
  expect(sent).toBe(2);
  const input = { symbol: 'AAPL', side: 'BUY', size: { units: 1 }, idempotencyKey: 'lost' };
  const { data } = await tradingGraph.mutate<{ placeOrder: unknown }, object>(PLACE, { input });
  expect(data?.placeOrder).toMatchObject(closed);
  expect(world.app.sandbox.orders()).toEqual([]);
});
