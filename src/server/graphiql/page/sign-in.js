import { elementOf } from './elements.js';

const DOCUMENT = `mutation SignIn($email: String!) {
  login(input: { email: $email, password: "demo" }) {
    __typename
    ... on LoginSuccess { accessToken }
    ... on Refusal { error message }
  }
}`;

/** The sandbox's user whose token goes with each request. */
export class SignIn {
  #endpoint;
  /** @type {Map<string, Promise<string>>} */
  #tokens = new Map();
  /** @type {HTMLSelectElement | null} */
  #choice = null;

  /** @param {import('./types.d.ts').PageConfig} config */
  constructor({ endpoint, users, token }) {
    this.#endpoint = endpoint;
    if (users === null) return;
    const [first] = users;
    if (first && token !== null) this.#tokens.set(first.email, Promise.resolve(token));
    this.#choice = elementOf('user', HTMLSelectElement);
  }

  /** The value of the Authorization header; null where nobody is signed in. Rejects where the sign-in fails. */
  async authorization() {
    const email = this.#choice?.value;
    if (!email) return null;
    const token = this.#tokens.get(email) ?? this.#renew(email);
    return `Bearer ${await token}`;
  }

  /**
   * Forgets a token that was refused, so that the next request signs in again.
   *
   * @param {string} authorization
   */
  async refused(authorization) {
    for (const [email, token] of this.#tokens) {
      if (`Bearer ${await token}` === authorization) this.#tokens.delete(email);
    }
  }

  /** @param {string} email */
  #renew(email) {
    const token = this.#signIn(email);
    this.#tokens.set(email, token);
    token.catch(() => this.#tokens.delete(email));
    return token;
  }

  /** @param {string} email */
  async #signIn(email) {
    const response = await fetch(this.#endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: DOCUMENT, variables: { email } }),
    });
    const { data, errors } = await response.json();
    const { accessToken, message, error } = data?.login ?? {};
    if (accessToken) return String(accessToken);
    const reason = errors?.[0]?.message ?? message ?? error ?? `status ${response.status}`;
    throw new Error(`Signing in as ${email} failed: ${reason}`);
  }
}
