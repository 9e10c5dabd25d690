import type { RequestsClient } from './own-methods.ts';

/**
 * Calls `forget` once when the signed-in account ends: at a sign-out, or when another account signs in without one. A cache of
 * answers drops its data then, but not at the next sign-in, when it may have the next account's first data, nor at a start
 * without a token, since `forget` may load the page again. Returns a function that ends the calls.
 */
export function onAccountEnd(
  client: Pick<RequestsClient, 'onAccountChange'>,
  forget: () => void,
): () => void {
  return client.onAccountChange((_login, former) => {
    if (former !== null) forget();
  });
}
