/** The reads of the screens with Node's own `fetch`, as most teams would write them. */
import { reads as all } from '../contestants/by-hand/reads.ts';

const { GATEWAY_URL } = process.env;

async function get(path, authorization) {
  const response = await fetch(GATEWAY_URL + path, { headers: { authorization } });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
}

export const reads = Object.fromEntries(
  Object.entries(all).map(([name, read]) => [name, (token) => read(token, get)]),
);
