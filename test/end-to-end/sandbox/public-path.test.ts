import { expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { waitForGraphiQL } from '../../support/browser-page.ts';
import { visit } from '../../support/demo-visit.ts';
import { describeInBrowser } from '../../support/describe-in-browser.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';

const html = { headers: { accept: 'text/html' } };

describeInBrowser('below a path prefix of a proxy', (browser) => {
  const app = sharedApp({ PUBLIC_PATH: '/tg/', AUTH_COOKIE: 'session' });

  test('the page and GraphiQL work, and link to each other', async () => {
    await using visitor = await visit(browser, `${app.url}/tg/?user=pro@example.com`);
    const { page } = visitor;
    await visitor.unfoldWhenLive();
    await visitor.waitForText('screen-verdict', /the same 25 positions/);
    await page.getByRole('link', { name: 'GraphiQL', exact: true }).first().click();
    await waitForGraphiQL(page);
    await page.getByRole('button', { name: /execute query/i }).click();
    await page.locator('.result-window').getByText('positions').first().waitFor();
    await page.getByRole('heading', { level: 1 }).getByRole('link').click();
    await page.waitForURL(/\/tg\/(?:$|\?)/);
    await visitor.unfoldWhenLive();
    await visitor.expectSound();
  });

  test('a proxy can remove the prefix or keep it, and links always have it', async () => {
    for (const path of ['/tg/graphql', '/graphql']) {
      const { status, text } = await rawRequest(app.url + path, html);
      expect(status).toBe(200);
      const links = [...text.matchAll(/(?:href|src|action)="(\/[^"]*)"/g)].map(([, link]) => link);
      expect(links.filter((link) => !link?.startsWith('/tg/'))).toEqual([]);
    }
    for (const [path, location] of [
      ['/tg', '/tg/'],
      ['/tg?a=1', '/tg/?a=1'],
    ] as const) {
      const { headers } = await rawRequest(app.url + path, html);
      expect(headers.location).toBe(location);
    }
    // A path with the same beginning is not served.
    expect((await rawRequest(`${app.url}/tgraph`, html)).status).toBe(404);
    const { headers } = await rawRequest(`${app.url}/tg/logout`, { method: 'POST' });
    expect(headers['set-cookie']?.[0]).toContain('; Path=/tg/graphql;');
  });
});

test('with a real gateway `/` describes the service and names the setting that enables GraphiQL', async () => {
  await using sandbox = await startTestApp();
  const settings = { PUBLIC_PATH: '/tg' };
  await using app = await startTestApp(settings, { gateway: sandbox.sandbox });
  const page = await rawRequest(app.url, html);
  expect(page.status).toBe(200);
  for (const text of ['in front of a REST trading gateway', 'GRAPHIQL=on', 'href="/tg/graphql"']) {
    expect(page.text).toContain(text);
  }
  expect(page.text).not.toContain('schema.graphql');
  // With GraphiQL a client that does not accept HTML gets a list of paths. All of them are served.
  await using withGraphiql = await startTestApp({ GRAPHIQL: 'on' }, { gateway: sandbox.sandbox });
  const { text } = await rawRequest(withGraphiql.url);
  for (const [path = ''] of text.matchAll(/\/[\w.]+/g)) {
    expect((await rawRequest(withGraphiql.url + path, html)).status, path).toBe(200);
  }
});
