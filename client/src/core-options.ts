import type { CoreOptions } from './base-core.ts';
import { browserEnvironment } from './browser-environment.ts';
import type { ClientOptions } from './create-client.ts';

/** The options with what stands where they leave something out. */
export function coreOptions(options: Omit<ClientOptions, 'catalogFields'>): CoreOptions {
  return {
    url: options.url,
    token: options.token,
    storage: options.storage ?? null,
    onSignedOut: options.onSignedOut ?? (() => {}),
    route: options.route ?? true,
    environment: { ...browserEnvironment(), ...options.environment },
  };
}
