import { fileURLToPath } from 'node:url';

/** The path of the program. */
export const OURS = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** The service has no fixed ports and no file, so that several run on one machine. */
export const ALONE = { ADMIN_PORT: '0', ORDER_STORE: 'memory' };

/** Limits that a load test does not reach. */
export const UNLIMITED = {
  RATE_LIMIT_PER_MINUTE: '1000000000',
  MAX_COST: '1000000000',
};
