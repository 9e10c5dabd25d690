export interface DemoUser {
  readonly email: string;
  readonly about: string;
}

export const USERS: readonly [DemoUser, ...DemoUser[]] = [
  { email: 'demo@example.com', about: 'a usual account' },
  { email: 'pro@example.com', about: 'more positions, another catalog' },
  { email: 'fresh@example.com', about: 'a new account' },
];

const EMAIL = 'trading-graph:email';
const TOKEN = 'trading-graph:token';
/** The server bounds how often somebody may sign in, and every request of the page asks for the token. */
const PAUSE_MS = 8_000;

/** The signed-in user. The token outlives a reload, as an app's does, and ends with the tab. */
export class Session {
  readonly #signIn: (email: string) => Promise<string>;
  readonly #listeners = new Set<() => void>();
  #signingIn: Promise<string> | null = null;
  #failure: { readonly error: Error; readonly atMs: number } | null = null;
  /** Whether the former user has left and the next one has not come. */
  #isLeft = false;

  constructor(signIn: (email: string) => Promise<string>) {
    this.#signIn = signIn;
    const asked = takeAskedUser();
    if (asked === null || asked === this.email) return;
    sessionStorage.removeItem(TOKEN);
    sessionStorage.setItem(EMAIL, asked);
  }

  get email(): string {
    return sessionStorage.getItem(EMAIL) ?? USERS[0].email;
  }

  /** The token as it is now; null before anybody is signed in. */
  get heldToken(): string | null {
    return sessionStorage.getItem(TOKEN);
  }

  /** Why nobody is signed in; null while somebody is, or is about to be. */
  get problem(): string | null {
    return this.#failure?.error.message ?? null;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Until `switchTo` nobody is signed in. */
  leave(): void {
    sessionStorage.removeItem(TOKEN);
    this.#isLeft = true;
    this.#signingIn = null;
  }

  /** From now on the token is another user's. */
  switchTo(email: string): void {
    sessionStorage.setItem(EMAIL, email);
    this.#isLeft = false;
    this.#failed(null);
  }

  /** Called by the client before each request; with `force` the last token was refused. */
  async token({ force }: { readonly force: boolean }): Promise<string | null> {
    if (this.#isLeft) return null;
    const held = this.heldToken;
    if (held !== null && !force) return held;
    const failure = this.#failure;
    if (failure !== null && performance.now() - failure.atMs < PAUSE_MS) throw failure.error;
    this.#signingIn ??= this.#renew(this.email);
    return this.#signingIn;
  }

  /** Lets the next request sign in at once, since what made the last attempt fail is over. */
  forgetFailure(): void {
    this.#failed(null);
  }

  async #renew(email: string): Promise<string> {
    // Another user may have been chosen meanwhile.
    const isCurrent = () => email === this.email && !this.#isLeft;
    try {
      const token = await this.#signIn(email);
      if (isCurrent()) {
        sessionStorage.setItem(TOKEN, token);
        this.#failed(null);
      }
      return token;
    } catch (error) {
      if (isCurrent()) {
        sessionStorage.removeItem(TOKEN);
        this.#failed(error as Error);
      }
      throw error;
    } finally {
      if (isCurrent()) this.#signingIn = null;
    }
  }

  #failed(error: Error | null): void {
    this.#failure = error && { error, atMs: performance.now() };
    for (const listener of this.#listeners) listener();
  }
}

/** The user that GraphiQL's link back names, once: afterwards the page has a choice of its own. */
function takeAskedUser(): string | null {
  const asked = new URLSearchParams(location.search).get('user');
  if (asked === null) return null;
  history.replaceState(null, '', `${location.pathname}${location.hash}`);
  return USERS.some(({ email }) => email === asked) ? asked : null;
}
