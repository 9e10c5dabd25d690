// The team's other service: news for everybody, and the price alerts of the account that a header names.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

const ARTICLES = [
  { id: 'n1', symbol: 'AAPL', headline: 'Apple shows a new phone', published: 1_780_000_000 },
  { id: 'n2', symbol: 'EURUSD', headline: 'The central bank waits', published: 1_780_003_600 },
  { id: 'n3', symbol: 'AAPL', headline: 'Analysts disagree', published: 1_780_007_200 },
];
const MAX_ALERTS = 3;

interface Alert {
  readonly id: string;
}

/** Resolves with its address. */
export function startService(): Promise<string> {
  const alerts = new Map<string, readonly Alert[]>();
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://service');
    if (pathname === '/v2/articles') {
      const symbols = searchParams.get('symbols')?.split(',') ?? [];
      return answer(200, { articles: ARTICLES.filter(({ symbol }) => symbols.includes(symbol)) });
    }
    const login = request.headers['x-account-login'];
    if (pathname !== '/alerts' || typeof login !== 'string')
      return answer(404, { message: 'Not found' });
    const own = alerts.get(login) ?? [];
    if (request.method === 'GET') return answer(200, { alerts: own });
    const wanted = (await json(request)) as object;
    if (own.length >= MAX_ALERTS) return answer(409, { message: `${MAX_ALERTS} alerts at most` });
    const alert = { ...wanted, id: `${login}-${own.length + 1}` };
    alerts.set(login, [...own, alert]);
    return answer(201, alert);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      server.unref();
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
}
