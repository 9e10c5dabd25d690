import type { Environment } from '../../src/config.ts';

/** A long deadline for calls of the gateway, because a busy machine would exceed the short default. */
export const PATIENT: Environment = { GATEWAY_TIMEOUT_MS: '60000' };
