// node --test examples/extension/graph.test.ts
import { deepEqual, equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import { startGraph } from 'trading-graph/testing';

const extensions = [new URL('./graph.ts', import.meta.url)];
const ARTICLE = { id: 'n1', symbol: 'AAPL', headline: 'A new phone', published: 1_780_000_000 };
const CREATE = 'mutation { createPriceAlert(symbol: "AAPL", price: 7) { id } }';

test('news of all positions are one call, and a failing service leaves the positions standing', async () => {
  const asked: string[] = [];
  const answers = [Response.json({ articles: [ARTICLE] }), new Response('down', { status: 404 })];
  const news = ({ url }: Request) => {
    asked.push(new URL(url).pathname);
    return answers.shift() ?? Response.error();
  };
  await using graph = await startGraph({ extensions, backends: { news } });
  const user = await graph.signIn();
  const query = '{ positions { symbol instrument { news { headline } } } }';
  type Data = { readonly positions: readonly { symbol: string; instrument: { news: unknown } }[] };
  const { data, errors } = await user.ask<Data>(query);
  deepEqual(errors, []);
  deepEqual(asked, ['/v2/articles']);
  const apple = data.positions.find(({ symbol }) => symbol === 'AAPL');
  deepEqual(apple?.instrument.news, [{ headline: 'A new phone' }]);
  const second = await user.ask<Data>(query);
  equal(second.data.positions.length, data.positions.length);
  equal(second.errors[0]?.extensions.operation, 'news.articles');
});

test('an article without a headline has an error of its own, and the others their data', async () => {
  const untitled = { ...ARTICLE, id: 'n2', headline: null };
  const news = () => Response.json({ articles: [untitled, ARTICLE] });
  await using graph = await startGraph({ extensions, backends: { news } });
  const { ask } = await graph.signIn();
  const { data, errors } = await ask('{ news(symbol: "AAPL") { id headline } }');
  const others = { id: 'n1', headline: 'A new phone' };
  deepEqual(data, { news: [{ id: 'n2', headline: null }, others] });
  equal(errors.length, 1);
  equal(errors[0]?.extensions.code, 'ARTICLE_UNTITLED');
});

test('an alert is created for the account that is signed in, and a lost answer is said to be unknown', async () => {
  let reply = () => Response.json({ id: 'a1' }, { status: 201 });
  const alerts = async (request: Request) => {
    equal(request.method, 'POST');
    equal(request.headers.get('x-account-login'), '700001');
    match(request.headers.get('idempotency-key') ?? '', /./);
    deepEqual(await request.json(), { symbol: 'AAPL', price: 7 });
    return reply();
  };
  await using graph = await startGraph({ extensions, backends: { alerts } });
  const { ask } = await graph.signIn();
  deepEqual((await ask(CREATE)).data, { createPriceAlert: { id: 'a1' } });
  for (const [next, code] of [
    [() => Response.json({ message: 'full' }, { status: 409 }), 'TOO_MANY_ALERTS'],
    [() => Response.json({ message: 'no price' }, { status: 400 }), 'BAD_USER_INPUT'],
    [() => new Response('<html>', { headers: { 'content-type': 'text/html' } }), 'OUTCOME_UNKNOWN'],
    [() => Response.error(), 'OUTCOME_UNKNOWN'],
  ] as const) {
    reply = next;
    equal((await ask(CREATE)).errors[0]?.extensions.code, code);
  }
  equal((await graph.ask(CREATE)).errors[0]?.extensions.code, 'UNAUTHENTICATED');
});
