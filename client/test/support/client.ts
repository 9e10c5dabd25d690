import type { TestApp } from '../../../test/support/app.ts';
import { type CoreOptions, createCore, type OwnCore } from '../../src/create-core.ts';
import { type CountedEnvironment, countedEnvironment } from './counted-environment.ts';

export interface TestCore extends OwnCore, Disposable {
  readonly countedEnvironment: CountedEnvironment;
}

export type TestCoreOptions = Partial<Omit<CoreOptions, 'environment'>> & {
  readonly environment?: CountedEnvironment;
};

/** A core on the real facade, signed in as the demo user. */
export function startCore(
  app: Pick<TestApp, 'url' | 'sandbox'>,
  { environment = countedEnvironment(), ...options }: TestCoreOptions = {},
): TestCore {
  const held = app.sandbox.token({ email: 'demo@example.com' });
  const core = createCore({
    url: `${app.url}/graphql`,
    token: () => held,
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
