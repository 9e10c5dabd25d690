import type { Origin, ServiceOptions } from './origin.ts';

/** The other services that this checkout calls, by the names under which resolvers find them. They are closed with the gateway. */
export function openServices(_options: ServiceOptions, _settings: object) {
  return {} satisfies Record<string, Origin>;
}

export type OtherServices = ReturnType<typeof openServices>;
