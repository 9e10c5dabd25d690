import type { Client } from '../create-client.ts';

/** A client whatever the fields that it keeps and follows. */
export type AnyClient = Client<never, { position: never; order: never; session: never }>;
