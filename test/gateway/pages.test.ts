import { expect, test } from 'vitest';
import { read } from '../../src/gateway/define-operation.ts';
import * as f from '../../src/gateway/fields.ts';
import { answer, startScriptedGateway } from '../support/scripted-gateway.ts';
import { anyCaller, type ClientSettings, openClient } from './open-client.ts';

const ROW = f.table('Row', { id: f.vital(f.filled) });
const PAGE = f.table('Page', { items: f.vital(f.wholeList(ROW)), next: f.unneeded(f.text) });

/** A read that follows the cursors of its pages. The gateway has no such operation. */
const getNews = read({
  name: 'getNews',
  number: 16,
  proves: 'nothing',
  calls: { page: { method: 'GET', path: '/news', query: ['after'], answer: PAGE.shape } },
  async run(calls) {
    const rows = [];
    for (let after: string | null = ''; after !== null; ) {
      const page: f.ValueOf<typeof PAGE.fields> = calls.read(
        await calls.send('page', { query: { after } }),
        PAGE,
      );
      rows.push(...page.items);
      after = page.next;
    }
    return rows;
  },
});

/** Reads all pages of a gateway. `page` returns the page after a cursor. */
async function news(page: (after: number) => object, settings: ClientSettings = {}) {
  await using gateway = await startScriptedGateway((socket, { path }) => {
    const after = Number(new URL(path, 'http://gateway').searchParams.get('after'));
    socket.write(answer(200, page(after)));
  });
  await using open = openClient(gateway.url, settings);
  const rows = await open.client.read(anyCaller, getNews).catch((error) => String(error));
  return { rows, calls: gateway.requests.length };
}

const rowsOf = (...ids: readonly number[]) => ids.map((id) => ({ id: `n-${id}` }));

// There are five pages, with two rows each.
test('all pages of a list are read', async () => {
  const page = (after: number) => ({
    items: rowsOf(2 * after, 2 * after + 1),
    ...(after < 4 && { next: String(after + 1) }),
  });
  const { rows, calls } = await news(page);
  expect([rows, calls]).toEqual([rowsOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), 5]);
});

test('the pages of a list share one deadline and one limit of bytes', async () => {
  const endless = (after: number) => ({ items: rowsOf(after), next: String(after + 1) });
  const late = await news(endless, { gatewayTimeoutMs: 200 });
  expect(late.rows).toMatch(/never sent|no readable answer \(timeout\)/);
  const large = await news((after) => ({ ...endless(after), more: 'x'.repeat(400) }), {
    gatewayMaxBytes: 1_000,
  });
  expect(large.rows).toContain('no readable answer (oversize)');
  // Each page has more than 400 bytes, so the third page exceeds the limit.
  expect(large.calls).toBe(3);
});
