import { reads as all } from '../subjects/by-hand/reads.ts';

const { GATEWAY_URL } = process.env;

/** The reads of the screens by a server's own way to the gateway. */
export const readsBy = (get) =>
  Object.fromEntries(
    Object.entries(all).map(([name, read]) => [name, (token) => read(token, get)]),
  );

/** With Node's own `fetch`, as most teams would write them. */
export const reads = readsBy(async (path, authorization) => {
  const response = await fetch(GATEWAY_URL + path, { headers: { authorization } });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
});
