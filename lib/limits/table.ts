/** The kinds of clients that limits are charged to; a `signed-in pair` is an e-mail with an address, or a token, that signed in lately. */
export type Whom = 'account' | 'address' | 'email' | 'pair' | 'signed-in pair' | 'token';

export interface Limit {
  /** Its name in metrics and logs: that of its setting, where it has one. */
  readonly label: string;
  /** How many each may have. */
  readonly most: Readonly<Partial<Record<Whom, number>>>;
  /** How many times that refills in a minute; 0: only what is given back may be taken again. */
  readonly refills: number;
  /** How many times that may be owed by those who used more. */
  readonly owed: number;
  /** Whether replicas share it. What costs a process is counted by that process. */
  readonly isShared: boolean;
}

// A revocation is seen only when a token is used: until then the token must not use up its account.
export const TOKEN_SHARE = 1 / 2;
/** The shares of the /64, /56 and /48 of an IPv6 address: providers give customers, or many of them, the larger ones. */
export const NETWORK_SHARES = [1, 4, 16];
/** How long a token is remembered as known, and a pair of address and e-mail as signed in. */
export const KNOWN_MS = { token: 24 * 3_600_000, pair: 7 * 24 * 3_600_000 };

/** The charge for a token that the gateway refuses: as many calls as a token may make at a time. */
export const REFUSED_TOKEN_CALLS = 5;

/** Calls that wait for their turn: each with its request in memory. */
export const MOST_WAITING = { line: 1_000, all: 10_000 };

export interface LimitSettings {
  readonly rateLimitPerMinute: number;
  readonly costLimitPerMinute: number;
  /** Of a schema that signs users in. */
  readonly loginLimitPerMinute?: number;
  readonly maxCost: number;
}

export type LimitTable = ReturnType<typeof limitTable>;
export type LimitName = keyof LimitTable;

/** The limits, and which client is charged by each. docs/limits.md says the same in words. */
export function limitTable(settings: LimitSettings) {
  const { rateLimitPerMinute: rate, costLimitPerMinute: fields, maxCost } = settings;
  const logins = settings.loginLimitPerMinute ?? 10;
  const messages = 2 * Math.max(rate, 1_200);
  // Sixty screens of a thousand tokens, or all operations of those who write values into short documents.
  const tokens = 50 * Math.max(rate, 1_200);
  return {
    requests: inAMinute('RATE_LIMIT_PER_MINUTE', { account: rate, address: rate }),
    /** Beyond the requests of an address: sign-ins, and what a known token may prove itself by. */
    reserve: inAMinute('RATE_LIMIT_PER_MINUTE', { address: 60, token: 5 }),
    fields: inAMinute('COST_LIMIT_PER_MINUTE', { account: fields, address: fields }),
    // An office or a mobile network has many users behind one address, while one user has few addresses.
    login: inAMinute('LOGIN_LIMIT_PER_MINUTE', {
      pair: logins,
      'signed-in pair': logins,
      address: 30 * logins,
      email: 10 * logins,
    }),
    forgotPassword: inAMinute('forgotPassword', { address: 30 }),
    /** Mails to one e-mail: after the first three one in ten minutes. */
    resets: { ...inAMinute('forgotPassword', { email: 3, 'signed-in pair': 3 }), refills: 1 / 30 },
    /** Beyond what a person or a program at retail needs; each is a write to the store. */
    orders: inAMinute('orders', { account: Math.max(rate, 1_200) / 2 }),
    /** Each of the other small writes. */
    writes: inAMinute('writes', { account: 60, address: 300 }),
    /** Each operation may come with a preflight, or end with a `complete`. */
    messages: here('messages', { account: messages, address: messages }, 2.5),
    /** Tokens of documents that nobody has prepared: to parse and validate them is the work of the largest requests. */
    documents: here('new documents', { account: tokens, address: tokens }),
    /** Fields of events: one of each subscription waits, however long. */
    events: here('events', { account: 5 * maxCost, address: 5 * maxCost }, 1, Infinity),
    /** Calls under way with tokens that nobody has accepted yet; 120 tokens that are refused use it up. */
    trials: here('refused tokens', { address: 120 * REFUSED_TOKEN_CALLS }),
    /** Calls of a token until it is proved: a home screen makes five beside a cold catalog. */
    calls: here('refused tokens', { token: REFUSED_TOKEN_CALLS }, 0),
    /** An account's are its WebSockets: a person has a few devices with a few windows each. */
    connections: here('connections', { account: 128, address: 5_000 }, 0),
    subscriptions: here('subscriptions', { account: 256, address: 256 }, 0),
    /** Large answers that are made or wait: each holds its document, which weighs forty times its text. */
    largeAnswers: here('costly operations', { account: 66, address: 66 }, 0),
  };
}

function inAMinute(label: string, most: Limit['most']): Limit {
  return { label, most, refills: 1, owed: 1, isShared: true };
}

function here(label: string, most: Limit['most'], refills = 1, owed = 1): Limit {
  return { label, most, refills, owed, isShared: false };
}
