const DOCUMENT = `mutation SignIn($input: LoginInput!) {
  login(input: $input) {
    __typename
    ... on LoginSuccess { accessToken }
    ... on Refusal { error message }
  }
}`;

/**
 * Signs in, and rejects with the reason if that fails.
 *
 * @param {import('./types.d.ts').Post} post
 * @param {{ email: string, password: string }} input
 */
export async function requestToken(post, input) {
  const body = JSON.stringify({ query: DOCUMENT, variables: { input } });
  const response = await post({ 'content-type': 'application/json' }, body);
  const { data, errors } = await response.json();
  const { accessToken, message, error } = data?.login ?? {};
  if (accessToken) return String(accessToken);
  const reason = errors?.[0]?.message ?? message ?? error ?? `status ${response.status}`;
  throw new Error(`Signing in as ${input.email} failed: ${reason}`);
}
