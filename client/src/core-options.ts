import type { BaseOptions } from './base-core.ts';
import type { ClientOptions } from './create-client.ts';

type Given = Pick<ClientOptions, 'url' | 'token' | 'onSignedOut' | 'route'>;

/** The options with what stands where they leave something out. */
export function baseOptions(options: Given): Omit<BaseOptions, 'environment'> {
  return {
    url: options.url,
    token: options.token,
    onSignedOut: options.onSignedOut ?? (() => {}),
    route: options.route ?? true,
  };
}
