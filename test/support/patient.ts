import type { Environment } from '../../src/config.ts';

/** For tests of long calls: a busy machine would exceed the service's short default deadlines. */
export const PATIENT: Environment = { GATEWAY_TIMEOUT_MS: '60000' };
