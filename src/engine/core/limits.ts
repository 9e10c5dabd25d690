import { perMinute, perProcess } from '../../lib/limits/limit.ts';
import type { Limiter } from '../../lib/limits/limiter.ts';

export interface EngineLimitSettings {
  readonly rateLimitPerMinute: number;
  readonly maxCost: number;
}

/** The limits that a client is charged for, with any schema. */
export const ENGINE_LIMITS = {
  requests: perMinute(
    'RATE_LIMIT_PER_MINUTE',
    'operations started in a minute',
    ({ rateLimitPerMinute }: EngineLimitSettings) => both(rateLimitPerMinute),
  ),
  /** Enough for twenty answers of the largest size. */
  fields: perMinute(
    'cost',
    'fields of answers and events in a minute',
    ({ maxCost }: EngineLimitSettings) => both(20 * maxCost),
  ),
  /** Twice the rate of operations, because each may have a preflight or a `complete`. Refilled 2.5 times a minute. */
  messages: perProcess(
    'messages',
    '[messages](#what-clients-send)',
    (settings: EngineLimitSettings) => both(2 * operationsPerMinute(settings)),
    2.5,
  ),
  connections: perProcess('connections', 'connections at a time', () => ({ address: 5_000 })),
  subscriptions: perProcess('subscriptions', 'subscriptions at a time', () => both(256)),
};

/** The limits that do not depend on the client: of a document, a message, a connection or the process. */
export const FIXED_LIMITS = [
  'MAX_BODY_BYTES',
  'MAX_COST',
  'MAX_TOKENS',
  'MAX_DEPTH',
  'MAX_ALIASES',
  'MAX_DIRECTIVES',
  'mutation fields',
  'variables',
  'name length',
  'selections',
  'repeated fields',
  'nesting',
  'depth of variables',
  'operations of a socket',
] as const;

export type EngineLimitName = keyof typeof ENGINE_LIMITS;
export type EngineLimiter = Limiter<EngineLimitName>;
export type LimitLabel =
  | (typeof ENGINE_LIMITS)[EngineLimitName]['label']
  | (typeof FIXED_LIMITS)[number];

function operationsPerMinute({ rateLimitPerMinute }: EngineLimitSettings): number {
  return Math.max(rateLimitPerMinute, 1_200);
}

function both(max: number) {
  return { account: max, address: max };
}
