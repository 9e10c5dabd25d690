import { expect, test } from 'vitest';
import { read } from '../../src/gateway/define-operation.ts';
import * as f from '../../src/gateway/fields.ts';
import { wholeOf } from '../../src/gateway/pages.ts';
import { answer, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, openClient } from './open-client.ts';

const ROW = f.table('Row', { id: f.vital(f.filled) });
const PAGE = f.table('Page', { items: f.vital(f.wholeList(ROW)), next: f.unneeded(f.text) });

const getNews = read({
  name: 'getNews',
  number: 16,
  proves: 'nothing',
  calls: { page: { method: 'GET', path: '/news', query: ['after'], answer: PAGE.shape } },
  run: (calls) =>
    wholeOf(calls, 'page', { query: { after: '' } }, (answer) => {
      const { items, next } = calls.read(answer, PAGE);
      return { rows: items, next: next === null ? null : { query: { after: next } } };
    }),
});

/** Reads all pages of a gateway. `page` returns the page after a cursor. */
async function news(page: (after: number) => object, maxBytes = 100_000) {
  await using gateway = await startScriptedGateway((socket, { path }) => {
    const after = Number(new URL(path, 'http://gateway').searchParams.get('after'));
    socket.write(answer(200, page(after)));
  });
  await using open = openClient(gateway.url, { gatewayMaxBytes: maxBytes });
  const rows = await open.client.read(anyCaller, getNews).catch((error) => String(error));
  return { rows, calls: gateway.requests.length };
}

const rowsOf = (...ids: readonly number[]) => ids.map((id) => ({ id: `n-${id}` }));

test('all pages of a list are read', async () => {
  const page = (after: number) => ({
    items: rowsOf(2 * after, 2 * after + 1),
    ...(after < 4 && { next: String(after + 1) }),
  });
  const { rows, calls } = await news(page);
  expect([rows, calls]).toEqual([rowsOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), 5]);
});

test('a row on two pages, endless pages and too many bytes are refused', async () => {
  const twice = await news((after) => ({ items: rowsOf(1), next: after === 0 ? '1' : null }));
  expect(twice.rows).toContain('a row on two pages');
  const endless = await news((after) => ({ items: rowsOf(after), next: String(after + 1) }));
  expect(endless.rows).toContain('pages without an end');
  expect(endless.calls).toBe(100);
  const large = await news(
    (after) => ({ items: rowsOf(after), next: String(after + 1), more: 'x'.repeat(400) }),
    1_000,
  );
  expect(large.rows).toContain('no readable answer (oversize)');
  expect(large.calls).toBe(3);
});
