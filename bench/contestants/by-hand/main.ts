/** A hand-written server for just these screens: an endpoint for each, without GraphQL. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { readBody } from '../read-body.ts';
import { Gateway } from './gateway.ts';
import { search } from './search.ts';

const LARGE_BYTES = 1024;
const packers = {
  gzip: promisify(gzip),
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
};

const gateway = new Gateway(process.env.GATEWAY_URL ?? '');

const ENDPOINTS: Readonly<Record<string, (token: string, body: Buffer) => Promise<unknown>>> = {
  '/home': home,
  '/search': async (token, body) => {
    const { term } = JSON.parse(body.toString()) as { term: string };
    const { list } = await gateway.catalog(token);
    const nodes = search(list, term, 20).map((instrument) => ({
      id: instrument.id,
      name: instrument.name,
      description: instrument.description,
      logo: instrument.logo,
      leverage: instrument.leverage,
      digits: instrument.digits,
    }));
    return { instruments: { nodes } };
  },
  '/catalog': async (token) => ({ catalog: { instruments: (await gateway.catalog(token)).list } }),
  '/positions': positions,
  '/customer-id': async (token) => ({ customerId: await gateway.customerId(token) }),
};

createServer((request, response) => {
  readBody(request, (body) => {
    const endpoint = ENDPOINTS[request.url?.split('?')[0] ?? '/'];
    if (!endpoint) return response.writeHead(404).end();
    endpoint(request.headers.authorization ?? '', body).then(
      (data) => send(request, response, Buffer.from(JSON.stringify({ data }))),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
}).listen(Number(process.env.PORT), '127.0.0.1');

async function home(token: string) {
  const [session, positions, withdrawalMethods, customerId, { byId }] = await Promise.all([
    gateway.session(token),
    gateway.positions(token),
    gateway.withdrawalMethods(token),
    gateway.customerId(token),
    gateway.catalog(token),
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
  const [list, { byId }] = await Promise.all([gateway.positions(token), gateway.catalog(token)]);
  return {
    positions: list.map((position) => {
      const found = byId.get(position.symbol);
      const instrument = found && {
        id: found.id,
        name: found.name,
        description: found.description,
        leverage: found.leverage,
        min: found.min,
        max: found.max,
        step: found.step,
        limit: found.limit,
        mCurrency: found.mCurrency,
        pCurrency: found.pCurrency,
      };
      return { ...position, instrument };
    }),
  };
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  bytes: Buffer,
): Promise<void> {
  const accepted = String(request.headers['accept-encoding'] ?? '');
  const encoding = accepted.includes('br') ? 'br' : accepted.includes('gzip') ? 'gzip' : null;
  const packs = encoding !== null && bytes.length > LARGE_BYTES;
  const body = packs ? await packers[encoding](bytes) : bytes;
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    ...(packs && { 'content-encoding': encoding }),
  });
  response.end(body);
}
