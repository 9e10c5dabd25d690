import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { describeWithChromium } from '../../support/describe-with.ts';
import { launchChromium } from '../../support/launch-chromium.ts';
import { listenLocally } from '../../support/local-server.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { startedOnce } from '../../support/started.ts';

const LOGIN =
  'mutation { login(input: { email: "demo@example.com", password: "demo" }) { __typename } }';

/** The functions that the tests call in the browser's page. */
const PAGE = `
  const ask = async (url, query, options = {}) => {
    const response = await fetch(url + '/graphql', {
      method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }), ...options,
    });
    return JSON.stringify(await response.json());
  };
  const watch = (url) => new Promise((resolve) => {
    const socket = new WebSocket(url.replace('http', 'ws') + '/graphql', 'graphql-transport-ws');
    socket.onopen = () => {
      socket.send(JSON.stringify({ type: 'connection_init' }));
      socket.send(JSON.stringify({ id: 'a', type: 'subscribe', payload: { query: '{ customerId }' } }));
    };
    socket.onmessage = ({ data }) => /"id":"a"/.test(data) && resolve(data);
    socket.onclose = () => resolve('closed');
    socket.onerror = () => resolve('closed');
  });
`;

describeWithChromium('a cookie in a browser', (executablePath) => {
  const app = sharedApp({ AUTH_COOKIE: 'session', CORS_ORIGINS: 'https://app.example.com' });
  const browser = startedOnce(() => launchChromium(executablePath));

  test('signs in only the pages of the service', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const run = <T>(code: string) => page.evaluate<T>(`${PAGE}; ${code}`);
    const own = JSON.stringify(app.url);
    await page.goto(`${app.url}/health/live`);
    expect(await run(`ask(${own}, '{ customerId }')`)).toContain('UNAUTHENTICATED');
    expect(await run(`ask(${own}, '${LOGIN}')`)).toContain('LoginSuccess');
    expect(await run('document.cookie')).toBe('');
    expect(await run(`ask(${own}, '{ customerId }')`)).toContain('cus_700001');
    expect(await run(`watch(${own})`)).toContain('cus_700001');

    // The browser adds the cookie to the requests of this page too, because only its port differs.
    const pages = createServer((_request, response) => response.end('a page'));
    await using other = await listenLocally(pages);
    await page.goto(other.url);
    const orRefused = `.catch((error) => 'refused: ' + error.message)`;
    expect(await run(`ask(${own}, '{ customerId }')${orRefused}`)).toMatch(/^refused/);
    const withoutPreflight = `{ method: 'GET', mode: 'no-cors', headers: {}, body: undefined }`;
    expect(await run(`ask(${own}, '', ${withoutPreflight})${orRefused}`)).toMatch(/^refused/);
    expect(await run(`watch(${own})`)).toBe('closed');
    const asText = `{ headers: { 'content-type': 'text/plain' } }`;
    expect(await run(`ask(${own}, '${LOGIN}', ${asText})${orRefused}`)).toMatch(/^refused/);

    await page.goto(`${app.url}/health/live`);
    await run(`fetch('/logout', { method: 'POST' }).then(({ status }) => status)`);
    expect(await run(`ask(${own}, '{ customerId }')`)).toContain('UNAUTHENTICATED');
    await context.close();
  });
});
