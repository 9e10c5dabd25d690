import type { TokenSource } from '../request/tokens.ts';

/**
 * The `token` of a client that signs a user of the sandbox in, for a first try and for tests: the app's own sign-in takes its
 * place. `origin` is the service's, such as `http://127.0.0.1:4000`.
 */
export function sandboxToken(origin: string, email = 'demo@example.com'): TokenSource {
  let token: string | null = null;
  return async ({ force }) => {
    if (force || token === null) token = await signedIn(`${origin}/sandbox/token`, email);
    return token;
  };
}

async function signedIn(url: string, email: string): Promise<string> {
  const body = JSON.stringify({ email });
  const answer = await fetch(url, { method: 'POST', body });
  if (!answer.ok) throw new Error(`There is no sandbox at ${url}: ${answer.status}`);
  return ((await answer.json()) as { accessToken: string }).accessToken;
}
