/** A hand-written server for just these screens: an endpoint for each, without GraphQL. */
import { createServer } from 'node:http';
import { Pool } from 'undici';
import { readBody } from '../read-body.ts';
import { type Get, reads } from './reads.ts';
import { search } from './search.ts';

const SEARCH_ROWS = 20;
const pool = new Pool(process.env.GATEWAY_URL ?? '', { connections: 128 });

const get: Get = async (path, authorization) => {
  const headers = { authorization };
  const { statusCode, body } = await pool.request({ path, method: 'GET', headers });
  if (statusCode !== 200) throw new Error(`status ${statusCode}`);
  return body.json();
};

const ENDPOINTS: Readonly<Record<string, (token: string, body: Buffer) => Promise<unknown>>> = {
  '/home': home,
  '/search': async (token, body) => {
    const { term } = JSON.parse(body.toString()) as { term: string };
    const { index } = await reads.catalog(token, get);
    const nodes = search(index, term, SEARCH_ROWS).map(
      ({ id, name, description, logo, leverage, digits }) => ({
        id,
        name,
        description,
        logo,
        leverage,
        digits,
      }),
    );
    return { instruments: { nodes } };
  },
  '/positions': positions,
  '/customer-id': async (token) => ({ customerId: await reads.customerId(token, get) }),
};

createServer((request, response) => {
  readBody(request, (body) => {
    const endpoint = ENDPOINTS[request.url?.split('?')[0] ?? '/'];
    if (!endpoint) return response.writeHead(404).end();
    endpoint(request.headers.authorization ?? '', body).then(
      (data) => {
        const bytes = Buffer.from(JSON.stringify({ data }));
        response.writeHead(200, {
          'content-type': 'application/json; charset=utf-8',
          'content-length': bytes.length,
        });
        response.end(bytes);
      },
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
}).listen(Number(process.env.PORT), '127.0.0.1');

async function home(token: string) {
  const [session, positions, withdrawalMethods, customerId, { byId }] = await Promise.all([
    reads.session(token, get),
    reads.positions(token, get),
    reads.withdrawalMethods(token, get),
    reads.customerId(token, get),
    reads.catalog(token, get),
  ]);
  return {
    session,
    positions: positions.map((position) => {
      const { id, symbol, side, units, priceOpen, priceCurrent, profit } = position;
      const found = byId.get(symbol);
      const instrument = found && { name: found.name, logo: found.logo, digits: found.digits };
      return { id, symbol, side, units, priceOpen, priceCurrent, profit, instrument };
    }),
    withdrawalMethods,
    customerId,
  };
}

async function positions(token: string) {
  const [list, { byId }] = await Promise.all([
    reads.positions(token, get),
    reads.catalog(token, get),
  ]);
  return {
    positions: list.map((position) => {
      const found = byId.get(position.symbol);
      if (!found) return { ...position, instrument: null };
      const { id, name, description, leverage, min, max, step, limit, mCurrency, pCurrency } =
        found;
      const terms = { min, max, step, limit, mCurrency, pCurrency };
      return { ...position, instrument: { id, name, description, leverage, ...terms } };
    }),
  };
}
