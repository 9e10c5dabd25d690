import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { createClient } from '../../src/create-client.ts';
import { usePositions } from '../../src/react/use-live.ts';
import { startCutProxy } from '../support/cut-proxy.ts';
import { app } from './page/view.ts';

test('a server renders what is known before anything is opened, and opens nothing', async () => {
  const line = await startCutProxy('http://127.0.0.1:9');
  let asked = 0;
  const client = createClient({
    url: `${line.url}/graphql`,
    token: () => {
      asked += 1;
      return 'token';
    },
  });
  const html = renderToString(app(client, { positions: 1, ticket: true }));
  const texts = [...html.matchAll(/<output[^>]*>([^<]*)/g)].map(([, text = '']) =>
    JSON.parse(text.replaceAll('&quot;', '"')),
  );
  expect(texts).toEqual([
    { status: 'CONNECTING', totals: null },
    { status: 'ready', outcome: null },
  ]);
  // Work that rendering started would be under way by now.
  await new Promise((resolve) => setImmediate(resolve));
  expect([asked, line.accepted]).toEqual([0, 0]);
  client.dispose();
  await line.close();
});

test('a hook without a provider says what is missing', () => {
  const Lonely = () => createElement('p', null, usePositions().status);
  expect(() => renderToString(createElement(Lonely))).toThrow('no TradingGraphProvider');
});
