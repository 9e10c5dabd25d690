import type { TestApp } from '../../../test/support/app.ts';
import { type CoreOptions, createCore, type OwnCore } from '../../src/create-core.ts';
import { type CountedEnvironment, countedEnvironment } from './counted-environment.ts';

export interface TestCore extends OwnCore, Disposable {
  readonly countedEnvironment: CountedEnvironment;
  /** The reasons for which it was signed out, and the logins that it was told of, where the test listens by no function of its own. */
  readonly signedOut: readonly string[];
  readonly accounts: readonly (string | null)[];
}

export type TestCoreOptions = Partial<Omit<CoreOptions, 'environment'>> & {
  readonly environment?: CountedEnvironment;
};

type Service = Pick<TestApp, 'url' | 'sandbox'>;

/** The options of a client of the service for a user who is signed in. */
export function signedIn(app: Service, email = 'demo@example.com') {
  const held = app.sandbox.token({ email });
  return { url: `${app.url}/graphql`, token: () => held };
}

/** A core on the real facade, signed in as the demo user. */
export function startCore(
  app: Service,
  { environment = countedEnvironment(), ...options }: TestCoreOptions = {},
): TestCore {
  const signedOut: string[] = [];
  const accounts: (string | null)[] = [];
  const core = createCore({
    ...signedIn(app),
    storage: null,
    onSignedOut: ({ code }) => void signedOut.push(code),
    route: false,
    ...options,
    environment,
  });
  core.onAccountChange((login) => void accounts.push(login));
  return Object.defineProperties({} as TestCore, {
    ...Object.getOwnPropertyDescriptors(core),
    countedEnvironment: { value: environment },
    signedOut: { value: signedOut },
    accounts: { value: accounts },
    [Symbol.dispose]: { value: () => core.dispose() },
  });
}
