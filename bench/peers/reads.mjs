import { Pool } from 'undici';
import { reads as all } from '../subjects/by-hand/reads.ts';

// The load uses sixteen connections, so the pool needs no more.
const gateway = new Pool(process.env.GATEWAY_URL, { connections: 16 });

/** The reads of each screen. `get` is how the measured server calls the gateway. */
export const readsBy = (get) =>
  Object.fromEntries(
    Object.entries(all).map(([name, read]) => [name, (token) => read(token, get)]),
  );

/** The same reads through a pool of undici, which costs less than Node's own `fetch`. */
export const reads = readsBy(async (path, authorization) => {
  const { statusCode, body } = await gateway.request({
    method: 'GET',
    path,
    headers: { authorization },
  });
  if (statusCode !== 200) throw new Error(`status ${statusCode}`);
  return body.json();
});
