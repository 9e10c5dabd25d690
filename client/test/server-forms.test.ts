import { beforeEach, expect, test } from 'vitest';
import { newKeyAt } from '../../src/store/order-key.ts';
import { eventually } from '../../test/support/eventually.ts';
import { newKey } from '../../test/support/order-keys.ts';
import { sharedApp } from '../../test/support/shared-app.ts';
import type { OwnEnvironment } from '../src/environment.ts';
import { type FormPage, forRequest } from '../src/server.ts';
import texts from '../texts.json' with { type: 'json' };

const app = sharedApp();
beforeEach(() => app.sandbox.reset());

const buying = (symbol: string) => () =>
  ({ symbol, side: 'BUY', kind: 'MARKET', size: { units: 1 } }) as const;

/** A web server between a browser and the service. With `isCut` it does not reach the service. */
function webServer(environment: OwnEnvironment = {}, email = 'demo@example.com') {
  const token = app.sandbox.token({ email });
  const form = () => forRequest(token, { url: `${app.url}/graphql`, environment }).form;
  /** Opens an address, and follows the redirect to a new key. */
  const open = async (search: string): Promise<Shown> => {
    const page = await form().open(new URLSearchParams(search));
    return page.kind === 'redirect' ? open(page.to) : page;
  };
  const post = ({ fields }: Shown, symbol = 'AAPL') =>
    form().post(Object.fromEntries(fields.map(({ name, value }) => [name, value])), buying(symbol));
  return { form, open, post };
}

type Shown = Extract<FormPage, { kind: 'order' }>;
const calls = () => app.sandbox.calls('openPosition');

test('a page gets its key into its address, and a reload shows the same order', async () => {
  const { form, open } = webServer();
  const first = await form().open({});
  expect(first).toMatchObject({ kind: 'redirect', to: `?order=${Object(first).key}` });
  const page = await open(Object(first).to);
  expect(page).toMatchObject({
    key: Object(first).key,
    status: 'ready',
    button: 'place',
    text: '',
  });
  expect(await open(Object(first).to)).toEqual(page);
});

test('two taps, and a reload while the order is under way, are one order', async () => {
  const { open, post } = webServer();
  app.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 300 });
  const page = await open('');
  const posting = [post(page), post(page)];
  await eventually(() => expect(calls()).toBe(1));
  expect(await open(`?order=${page.key}`)).toMatchObject({ status: 'accepted', button: null });
  const [address = '', other] = await Promise.all(posting);
  expect(other).toBe(address);
  expect(await open(address)).toMatchObject({ status: 'accepted', text: texts.orders.accepted });
  // The user has gone back, and taps once more.
  expect(await open(await post(page))).toMatchObject({ status: 'accepted' });
  expect(calls()).toBe(1);
});

test.each([
  ['TEST.UNKNOWN', 'unknown', 'ask'],
  ['TEST.REJECT', 'rejected', null],
] as const)(
  'an order of %s is %s in words, and asking again sends nothing',
  async (symbol, status, button) => {
    const { open, post } = webServer();
    let page = await open('');
    for (let taps = 0; taps < 3; taps += 1) {
      page = await open(await post(page, symbol));
      expect(page).toMatchObject({ status, button });
      expect(page.text).toContain(texts.orders[status]);
    }
    expect(calls()).toBe(1);
  },
);

test('if no answer arrives the page says that nothing is known, and asking again never places the order', async () => {
  const cut = Object.assign(new TypeError('refused'), { cause: { code: 'ECONNREFUSED' } });
  const away = webServer({ fetch: () => Promise.reject(cut) });
  const { open } = webServer();
  const page = await open('');
  const address = await away.form().post({ order: page.key }, buying('AAPL'), { withinMs: 500 });
  const unknown = await open(address);
  expect(unknown).toMatchObject({ status: 'unknown', outcome: null, button: 'ask' });
  expect(await open(await webServer().post(unknown))).toMatchObject({
    status: 'unsent',
    button: null,
  });
  // A request of the first tap that arrives late is refused.
  expect(await open(await webServer().post(page))).toMatchObject({ status: 'unsent' });
  expect(calls()).toBe(0);
  // While the service is away, only a page that has posted its form knows what to say.
  await expect(away.form().open({ order: page.key })).rejects.toMatchObject({ code: 'NETWORK' });
}, 60_000);

test('another account that asks by the form of an order is not told that nothing was placed', async () => {
  const first = webServer();
  const other = webServer({}, 'user-2@example.com');
  const address = await first.post(await first.open(''), 'TEST.UNKNOWN');
  const asking = await first.open(address);
  const doubtful = { status: 'unknown', outcome: null, button: null, fields: [] };
  expect(await other.open(await other.post(asking))).toMatchObject(doubtful);
  expect(await other.open(address)).toMatchObject(doubtful);
  expect(await first.open(address)).toMatchObject({ status: 'unknown', button: 'ask' });
});

test('a form without the fields of its page places nothing, and an old key leaves the order in doubt', async () => {
  const { form, open } = webServer();
  await expect(form().post({ symbol: 'AAPL' }, buying('AAPL'))).rejects.toThrow('`fields`');
  expect(calls()).toBe(0);
  const dayMs = 24 * 3_600_000;
  expect(await open(`?order=${newKeyAt(Date.now() - dayMs)}`)).toMatchObject({
    status: 'unknown',
    button: 'ask',
  });
});

test('without a signed-in user the page rejects with an error that says so', async () => {
  const { form } = forRequest(null, { url: `${app.url}/graphql` });
  await expect(form.open({ order: newKey() })).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});
