import type { TestApp } from '../../../test/support/app.ts';
import { ClientCore, type CoreOptions } from '../../src/client-core.ts';
import { PARTS } from '../../src/core-client.ts';
import { type CountedEnvironment, countedEnvironment } from './counted-environment.ts';

/** A core that is disposed with its test. */
export class TestCore extends ClientCore implements Disposable {
  readonly countedEnvironment: CountedEnvironment;

  constructor(options: CoreOptions & { readonly environment: CountedEnvironment }) {
    super(options, PARTS);
    this.countedEnvironment = options.environment;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

export type TestCoreOptions = Partial<Omit<CoreOptions, 'environment'>> & {
  readonly environment?: CountedEnvironment;
};

type Service = Pick<TestApp, 'url' | 'sandbox'>;

/** The options of a client of the service with a signed-in user. */
export function signedIn(app: Service, email = 'demo@example.com') {
  const held = app.sandbox.token({ email });
  return { url: `${app.url}/graphql`, token: () => held };
}

/** A core that calls the service of the test, signed in as the demo user. */
export function startCore(
  app: Service,
  { environment = countedEnvironment(), ...options }: TestCoreOptions = {},
): TestCore {
  return new TestCore({ ...signedIn(app), onSignedOut: () => {}, ...options, environment });
}
