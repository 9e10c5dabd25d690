import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment, GraphQLTaggedNode } from 'relay-runtime';
import { expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { createSampleProject } from '../support/sample-project.ts';
import { readPage } from '../support/samples.ts';
import { startGuideWorld, TEST_SESSION, trustedAlone } from './guide-world.ts';

test('the documents that Relay’s compiler persists are answered, in parts where one fails, and rows of one id stay two', async () => {
  const page = 'docs/clients/relay.md';
  await using project = await createSampleProject(page, { 'src/session.ts': TEST_SESSION });
  const samples = readPage(page).samples.filter(({ language }) => language === 'json');
  const settings = samples.map(({ text }) => JSON.parse(text) as object);
  expect(settings).toHaveLength(2);
  project.write('relay.config.json', JSON.stringify(Object.assign({}, ...settings)));
  // The compiler adds to the file, which has to be there.
  project.write('persisted-documents.json', '{}');
  project.write(
    'entry.ts',
    `export { environment } from './src/relay';
     export { HOME } from './src/home';
     export { LIVE } from './src/live';
     export { fetchQuery, requestSubscription } from 'relay-runtime';`,
  );
  await project.generate();
  const manifest = 'persisted-documents.json';
  await using world = await startGuideWorld(trustedAlone(project, manifest));
  const ids = JSON.parse(readFileSync(join(project.folder, manifest), 'utf8'));
  expect(Object.keys(ids)).toHaveLength(3);
  const relay = await project.load<
    { readonly environment: Environment } & Record<'HOME' | 'LIVE', GraphQLTaggedNode> &
      Pick<typeof import('relay-runtime'), 'fetchQuery' | 'requestSubscription'>
  >('entry.ts');
  const { environment } = relay;
  const { sandbox } = world.app;
  const [order, position] = ['MSFT', 'AAPL'].map((symbol) => ({ id: 'same', symbol }));
  const positions = { positions: [position] };
  const session = { login: 700001, group: 'standard-usd', orders: [order], ...positions };
  const answer = { kind: 'status', status: 200 } as const;
  sandbox.fail({ operation: 'getSession', ...answer, body: session });
  sandbox.fail({ operation: 'getOpenPositions', ...answer, body: positions });
  sandbox.fail({ operation: 'getWithdrawalMethods', kind: 'status', status: 500 });
  const home = await relay.fetchQuery(environment, relay.HOME, {}).toPromise();
  expect(home).toMatchObject({
    session: { id: '700001' },
    positions: [position],
    orders: [order],
    withdrawalMethods: { ok: false },
  });
  sandbox.clearFaults();
  let events = 0;
  const live = relay.requestSubscription(environment, {
    subscription: relay.LIVE,
    variables: {},
    onNext() {
      events += 1;
    },
  });
  await eventually(() => events > 0);
  live.dispose();
});
