import type { TestApp } from '../../../test/support/app.ts';
import { type CoreOptions, createCore, type OwnCore } from '../../src/create-core.ts';
import { type CountedEnvironment, countedEnvironment } from './counted-environment.ts';

export interface TestCore extends OwnCore, Disposable {
  readonly countedEnvironment: CountedEnvironment;
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
  const core = createCore({
    ...signedIn(app),
    storage: null,
    onSignedOut: () => {},
    route: false,
    ...options,
    environment,
  });
  return Object.defineProperties({} as TestCore, {
    ...Object.getOwnPropertyDescriptors(core),
    countedEnvironment: { value: environment },
    [Symbol.dispose]: { value: () => core.dispose() },
  });
}
