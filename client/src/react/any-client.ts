import type { CoreClient } from '../core-client.ts';
import type { Client } from '../create-client.ts';

// The type names no fields, so that a client with any fields fits.
type Features = Pick<
  Client<{ position: never; order: never; session: never }>,
  'positions' | 'account' | 'orders'
>;

/** A client with any features and fields. */
export type AnyClient = CoreClient & Partial<Features>;

/** Throws if the app has made its client without the feature that a hook needs. */
export function featureOf<Name extends keyof Features>(
  client: Partial<Features>,
  name: Name,
): NonNullable<Partial<Features>[Name]> {
  const feature = client[name];
  if (feature !== undefined) return feature;
  throw new Error(
    `The client of the provider has no ${name}. Pass its feature to createClientWith.`,
  );
}
