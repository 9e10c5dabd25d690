import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { listenLocally } from '../../../test/support/local-server.ts';
import { startedForEach } from '../../../test/support/started.ts';
import { countedEnvironment } from '../support/counted-environment.ts';
import { buying, startPhone, unsent } from '../support/phone.ts';

const phone = startedForEach(startPhone);

test('an order is not sent if the network is lost while its key is stored', async () => {
  const lifecycle = { ...countedEnvironment().lifecycle, isOnline: true };
  phone.storage.after = (step) => {
    if (step === 'set') lifecycle.isOnline = false;
  };
  const { orders, sent } = phone.open({}, { lifecycle });
  expect(await orders.ticket().place(buying('gone'))).toMatchObject({ status: 'unsent' });
  expect(sent).toEqual([]);
  await phone.forgotten();
});

test.each([
  ['that refuses connections', refusingUrl],
  ['whose name is not found', () => 'http://nowhere.invalid'],
])('an order to a server %s is unsent', async (_what, url) => {
  const gone = await url();
  const { orders, sent } = await phone.openKnown(
    {},
    { fetch: (input, init) => fetch(String(init?.body).includes('mutation') ? gone : input, init) },
  );
  expect(await orders.ticket().place(buying('refused'))).toMatchObject(unsent('NETWORK'));
  expect(sent).toHaveLength(1);
});

test.each([
  ['NaN counts as the default', Number.NaN, 'accepted'],
  ['a text counts as the default', 'soon' as never, 'accepted'],
  ['null counts as the default', null as never, 'accepted'],
  ['a negative number sends nothing', -1, 'unsent'],
])('a maxWaitMs of %s', async (_, maxWaitMs, status) => {
  const { orders, sent } = phone.open();
  expect(await orders.ticket({ maxWaitMs }).place(buying('wait'))).toMatchObject({ status });
  expect(sent).toHaveLength(status === 'accepted' ? 1 : 0);
});

/** An address without a listener. */
async function refusingUrl(): Promise<string> {
  await using server = await listenLocally(createServer());
  return server.url;
}
