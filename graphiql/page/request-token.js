const DOCUMENT = `mutation SignIn($input: LoginInput!) {
  login(input: $input) {
    __typename
    ... on LoginSuccess { accessToken }
    ... on Refusal { error message }
  }
}`;

/**
 * Signs in, and rejects with the reason where that fails.
 *
 * @param {string} endpoint
 * @param {{ email: string, password: string }} input
 */
export async function requestToken(endpoint, input) {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: DOCUMENT, variables: { input } }),
  });
  const { data, errors } = await response.json();
  const { accessToken, message, error } = data?.login ?? {};
  if (accessToken) return String(accessToken);
  const reason = errors?.[0]?.message ?? message ?? error ?? `status ${response.status}`;
  throw new Error(`Signing in as ${input.email} failed: ${reason}`);
}
