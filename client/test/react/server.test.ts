import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { createClient } from '../../src/create-client.ts';
import { usePositions } from '../../src/react/use-live.ts';
import { startCutProxy } from '../support/cut-proxy.ts';
import { app } from './page/view.ts';

test('a server renders the initial state, and opens no connection', async () => {
  const proxy = await startCutProxy('http://127.0.0.1:9');
  let tokens = 0;
  const client = createClient({
    url: `${proxy.url}/graphql`,
    token: () => {
      tokens += 1;
      return 'token';
    },
  });
  const html = renderToString(app(client, { positions: 1, ticket: true }));
  const texts = [...html.matchAll(/<output[^>]*>([^<]*)/g)].map(([, text = '']) =>
    JSON.parse(text.replaceAll('&quot;', '"')),
  );
  expect(texts).toEqual([
    { status: 'CONNECTING', totals: null },
    { status: 'ready', outcome: null, progress: null },
  ]);
  // Work that rendering started would be under way by now.
  await new Promise((resolve) => setImmediate(resolve));
  expect([tokens, proxy.accepted]).toEqual([0, 0]);
  client.dispose();
  await proxy.close();
});

test('a hook without a provider throws an error that names the provider', () => {
  const Lonely = () => createElement('p', null, usePositions().status);
  expect(() => renderToString(createElement(Lonely))).toThrow('no TradingGraphProvider');
});
