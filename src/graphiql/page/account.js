import { elementOf } from './elements.js';
import { requestToken } from './request-token.js';

/** An account at a real gateway, by a sign-in or a pasted token. The token is kept only in memory, and serves all tabs. */
export class Account {
  #post;
  /** @type {string | null} */
  #token = null;
  /** The sign-in under way. A later change of the token supersedes it. */
  #signInUnderWay = {};
  #menu = elementOf('account', HTMLDetailsElement);
  #state = elementOf('account-state', HTMLElement);
  #message = elementOf('account-message', HTMLElement);
  #signOut = elementOf('sign-out', HTMLButtonElement);

  /** @param {import('./types.d.ts').Post} post */
  constructor(post) {
    this.#post = post;
    onSubmit('sign-in', (fields) => this.#signIn(fields));
    onSubmit('own-token', async ({ token = '' }) =>
      this.#use(token.trim().replace(/^Bearer\s+/i, '')),
    );
    this.#signOut.addEventListener('click', () => this.#forget('Signed out.'));
  }

  async authorization() {
    return this.#token === null ? null : `Bearer ${this.#token}`;
  }

  /** @param {string} authorization */
  async refused(authorization) {
    if (authorization === `Bearer ${this.#token}`)
      this.#forget('The token was refused. Sign in again.');
  }

  /** @param {Readonly<Record<string, string>>} fields */
  async #signIn({ email = '', password = '' }) {
    this.#message.textContent = 'Signing in …';
    const own = {};
    this.#signInUnderWay = own;
    try {
      const token = await requestToken(this.#post, { email, password });
      if (this.#signInUnderWay === own) this.#use(token);
    } catch (error) {
      if (this.#signInUnderWay !== own) return;
      this.#message.textContent = error instanceof Error ? error.message : String(error);
    }
  }

  /** @param {string} token */
  #use(token) {
    this.#token = token;
    this.#signInUnderWay = {};
    this.#state.textContent = expiryOf(token);
    this.#message.textContent = 'The token is sent with every operation until you leave the page.';
    this.#signOut.hidden = false;
    this.#menu.open = false;
    elementOf('account-state', HTMLElement).focus();
  }

  /** @param {string} why */
  #forget(why) {
    this.#token = null;
    this.#signInUnderWay = {};
    this.#state.textContent = 'Sign in';
    this.#message.textContent = why;
    this.#signOut.hidden = true;
  }
}

/**
 * @param {string} id
 * @param {(fields: Readonly<Record<string, string>>) => Promise<void>} submit
 */
function onSubmit(id, submit) {
  const form = elementOf(id, HTMLFormElement);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const fields = Object.fromEntries(
      [...new FormData(form)].map(([name, value]) => [name, String(value)]),
    );
    await submit(fields);
    for (const input of form.querySelectorAll('[type=password]')) {
      if (input instanceof HTMLInputElement) input.value = '';
    }
  });
}

/**
 * Returns a text with the time when the token expires. Its claims are not verified here.
 *
 * @param {string} token
 */
function expiryOf(token) {
  try {
    const [, payload = ''] = token.split('.');
    const { exp } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
    if (typeof exp !== 'number') return 'Signed in';
    const end = new Date(exp * 1000);
    const shown = end.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
    return end.getTime() > Date.now() ? `Signed in until ${shown}` : `Token expired ${shown}`;
  } catch {
    return 'Signed in';
  }
}
