/** Whom a limit is charged to; a `signed-in pair` is an address and e-mail that signed in lately. */
export type Whom = 'account' | 'address' | 'email' | 'pair' | 'signed-in pair' | 'token';

/** How many of something each may have. */
export interface Limit extends Readonly<Partial<Record<Whom, number>>> {
  /** Its name in metrics and logs: that of its setting, where it has one. */
  readonly label: string;
  /** How many times it refills in a minute; 0: only what is given back may be taken again. */
  readonly refills: number;
  /** How many times itself may be owed by who has used more; once, if left out. */
  readonly owed?: number;
  /** Whether replicas share it. What costs a process is counted by that process. */
  readonly isShared: boolean;
}

// A revocation is seen only when a token is used: until then the token must not use up its account.
export const TOKEN_SHARE = 1 / 2;
/** Of the /64, /56 and /48 of an IPv6 address: providers give customers, or many of them, the larger ones. */
export const NETWORK_SHARES = [1, 4, 16];
/** How long a token is remembered as known, and a pair of address and e-mail as signed in. */
export const KNOWN_MS = { token: 24 * 3_600_000, pair: 7 * 24 * 3_600_000 };

export interface LimitSettings {
  readonly rateLimitPerMinute: number;
  readonly costLimitPerMinute: number;
  readonly loginLimitPerMinute: number;
  readonly maxCost: number;
}

export type LimitTable = ReturnType<typeof limitTable>;
export type LimitName = keyof LimitTable;

const A_MINUTE = { refills: 1, isShared: true };
const HERE = { refills: 1, isShared: false };
const AT_A_TIME = { refills: 0, isShared: false };

/** Who is charged with what. docs/limits.md says the same in words. */
export function limitTable(settings: LimitSettings) {
  const { rateLimitPerMinute: rate, costLimitPerMinute: fields, maxCost } = settings;
  const logins = settings.loginLimitPerMinute;
  const messages = 2 * Math.max(rate, 1_200);
  return {
    requests: { label: 'RATE_LIMIT_PER_MINUTE', account: rate, address: rate, ...A_MINUTE },
    /** Beyond the requests of an address: sign-ins, and what a known token may prove itself by. */
    reserve: { label: 'RATE_LIMIT_PER_MINUTE', address: 60, token: 5, ...A_MINUTE },
    fields: { label: 'COST_LIMIT_PER_MINUTE', account: fields, address: fields, ...A_MINUTE },
    /** Fields of events: one of each subscription waits, however long. */
    events: {
      label: 'events',
      account: 5 * maxCost,
      address: 5 * maxCost,
      ...HERE,
      owed: Infinity,
    },
    /** Each operation may come with a preflight, or end with a `complete`. */
    messages: { label: 'messages', account: messages, address: messages, ...HERE, refills: 2.5 },
    // An office or a mobile network has many users behind one address, while one user has few addresses.
    login: {
      label: 'LOGIN_LIMIT_PER_MINUTE',
      pair: logins,
      'signed-in pair': logins,
      address: 30 * logins,
      email: 10 * logins,
      ...A_MINUTE,
    },
    forgotPassword: { label: 'forgotPassword', email: 3, address: 30, ...A_MINUTE },
    /** Each of the other small writes. */
    writes: { label: 'writes', account: 60, address: 300, ...A_MINUTE },
    /** Tokens that nobody has accepted yet; one that the gateway accepts is given back. */
    trials: { label: 'refused tokens', address: 120, ...HERE },
    /** Calls of a token until it is proved: a home screen makes five beside a cold catalog. */
    calls: { label: 'refused tokens', token: 5, ...AT_A_TIME },
    /** An account's are its WebSockets: a person has a few devices with a few windows each. */
    connections: { label: 'connections', account: 128, address: 5_000, ...AT_A_TIME },
    subscriptions: { label: 'subscriptions', account: 256, address: 256, ...AT_A_TIME },
    /** Large answers that are made or wait: each holds its document, which weighs forty times its text. */
    largeAnswers: { label: 'costly operations', account: 66, address: 66, ...AT_A_TIME },
  } satisfies Readonly<Record<string, Limit>>;
}
