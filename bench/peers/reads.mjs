import { Pool } from 'undici';
import { reads as all } from '../subjects/by-hand/reads.ts';

// As many as the load has connections.
const gateway = new Pool(process.env.GATEWAY_URL, { connections: 16 });

/** The reads of the screens by a server's own way to the gateway. */
export const readsBy = (get) =>
  Object.fromEntries(
    Object.entries(all).map(([name, read]) => [name, (token) => read(token, get)]),
  );

/** With a pool of undici's, which costs less than Node's own `fetch`. */
export const reads = readsBy(async (path, authorization) => {
  const { statusCode, body } = await gateway.request({
    method: 'GET',
    path,
    headers: { authorization },
  });
  if (statusCode !== 200) throw new Error(`status ${statusCode}`);
  return body.json();
});
