export interface DemoUser {
  readonly email: string;
  readonly about: string;
}

export const USERS: readonly [DemoUser, ...DemoUser[]] = [
  { email: 'demo@example.com', about: '6 positions, 3 pending orders' },
  { email: 'pro@example.com', about: '25 positions, another catalog' },
  { email: 'fresh@example.com', about: 'nothing yet' },
];

const EMAIL = 'trading-graph:email';
const TOKEN = 'trading-graph:token';

/** The signed-in user. The token outlives a reload, as an app's does, and ends with the tab. */
export class Session {
  readonly #signIn: (email: string) => Promise<string>;

  constructor(signIn: (email: string) => Promise<string>) {
    this.#signIn = signIn;
  }

  get email(): string {
    return sessionStorage.getItem(EMAIL) ?? USERS[0].email;
  }

  /** The token as it is now; null before anybody is signed in. */
  get heldToken(): string | null {
    return sessionStorage.getItem(TOKEN);
  }

  /** From now on the token is another user's. */
  switchTo(email: string): void {
    sessionStorage.setItem(EMAIL, email);
    sessionStorage.removeItem(TOKEN);
  }

  /** Called by the client before each request; with `force` the last token was refused. */
  async token({ force }: { readonly force: boolean }): Promise<string> {
    const held = this.heldToken;
    if (held !== null && !force) return held;
    const { email } = this;
    const token = await this.#signIn(email);
    // Another user may have been chosen meanwhile.
    if (email === this.email) sessionStorage.setItem(TOKEN, token);
    return token;
  }
}
