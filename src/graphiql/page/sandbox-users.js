import { elementOf } from './elements.js';
import { requestToken } from './request-token.js';

/** The choice of the sandbox's user whose token is sent with each request. */
export class SandboxUsers {
  #post;
  /** @type {Map<string, Promise<string>>} */
  #tokens = new Map();
  #choice = elementOf('user', HTMLSelectElement);

  /**
   * @param {import('./types.d.ts').Post} post
   * @param {readonly { email: string }[]} users
   * @param {string | null} token
   */
  constructor(post, [first], token) {
    this.#post = post;
    if (first && token !== null) this.#tokens.set(first.email, Promise.resolve(token));
    const user = new URLSearchParams(location.search).get('user');
    if ([...this.#choice.options].some(({ value }) => value === user)) this.#choose(user ?? '');
    this.#choice.addEventListener('change', () => this.#choose(this.#choice.value));
  }

  /**
   * Writes the user to the address and to the link to the first page, so that a reload and the first page keep the user.
   *
   * @param {string} user
   */
  #choose(user) {
    this.#choice.value = user;
    const address = new URL(location.href);
    address.searchParams.set('user', user);
    history.replaceState(null, '', address);
    const link = document.querySelector('h1 a');
    if (user && link instanceof HTMLAnchorElement) {
      link.search = `${new URLSearchParams({ user })}`;
    }
  }

  /** The value of the Authorization header; null if no user is signed in. Rejects if the sign-in fails. */
  async authorization() {
    const email = this.#choice.value;
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
    const token = requestToken(this.#post, { email, password: 'demo' });
    this.#tokens.set(email, token);
    token.catch(() => this.#tokens.delete(email));
    return token;
  }
}
