import type { Environment } from '../../src/config.ts';

/** Tests of deadlines set their own: a busy machine passes the short ones that a service has by itself. */
export const PATIENT: Environment = { GATEWAY_TIMEOUT_MS: '60000' };
