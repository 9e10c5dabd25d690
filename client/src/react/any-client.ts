import type { Client } from '../create-client.ts';

/** A client whatever the fields that its catalog keeps. */
export type AnyClient = Client<never>;
