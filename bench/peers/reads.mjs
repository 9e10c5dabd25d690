/** The reads of the screens with Node's own `fetch`, as most teams would write them. */
import { toMethod, toPosition } from '../contestants/by-hand/mapping.ts';
import { createCache } from './cache.mjs';

const { GATEWAY_URL } = process.env;
const cache = createCache();

async function get(path, authorization) {
  const response = await fetch(GATEWAY_URL + path, { headers: { authorization } });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
}

export const reads = {
  session: (token) => cache.session(token, get),
  catalog: (token) => cache.catalog(token, get),
  positions: async (token) => (await get('/trading/positions', token)).positions.map(toPosition),
  withdrawalMethods: async (token) =>
    (await get('/payments/client/withdrawal-methods', token)).flat().map(toMethod),
  customerId: async (token) => (await get('/payments/client/customer-id', token)).customerId,
};
