import { PRO, STANDARD } from './groups.ts';

export interface SandboxUser {
  readonly id: string;
  readonly email: string;
  readonly login: number;
  readonly group: string;
  readonly name: string;
  readonly balance: number;
  readonly credit: number;
  readonly kycStatus: string;
  /** The number of positions and pending orders that the account starts with. */
  readonly positions: number;
  readonly orders: number;
}

export const PASSWORD = 'demo';

const PLAIN = {
  credit: 0,
  positions: 0,
  orders: 0,
  kycStatus: 'APPROVED',
} as const;

const USERS: readonly SandboxUser[] = [
  {
    ...PLAIN,
    ...identity(700_001, 'demo@example.com', 'Demo User'),
    group: STANDARD,
    balance: 50_000,
    credit: 500,
    positions: 6,
    orders: 3,
  },
  {
    ...PLAIN,
    ...identity(700_002, 'pro@example.com', 'Pro User'),
    group: PRO,
    balance: 250_000,
    positions: 25,
    orders: 8,
  },
  {
    ...PLAIN,
    ...identity(700_003, 'fresh@example.com', 'Fresh User'),
    group: STANDARD,
    balance: 10_000,
    kycStatus: 'PENDING',
  },
];

/** The users that a page offers to sign in with; the first one is signed in already. */
export const OFFERED_USERS = USERS.map(({ email, positions }) => ({
  email,
  about: positions === 0 ? 'nothing yet' : `${positions} positions`,
}));

const BY_EMAIL = new Map(USERS.map((user) => [user.email, user]));
const BY_LOGIN = new Map(USERS.map((user) => [user.login, user]));

// Users for load tests: user 1 has the login 800001.
const LOAD_EMAIL = /^user-([1-9][0-9]{0,4})@example\.com$/;
const LOAD_LOGIN_BASE = 800_000;
const LAST_LOAD_LOGIN = 899_999;

export function isLoadUser({ login }: SandboxUser): boolean {
  return login > LOAD_LOGIN_BASE;
}

export function findUserByEmail(email: string): SandboxUser | null {
  const known = BY_EMAIL.get(email.toLowerCase());
  if (known !== undefined) return known;
  const number = LOAD_EMAIL.exec(email.toLowerCase())?.[1];
  return number === undefined ? null : loadUser(Number(number));
}

export function findUserByLogin(login: number): SandboxUser | null {
  const known = BY_LOGIN.get(login);
  if (known !== undefined) return known;
  const isLoad = Number.isInteger(login) && login > LOAD_LOGIN_BASE && login <= LAST_LOAD_LOGIN;
  return isLoad ? loadUser(login - LOAD_LOGIN_BASE) : null;
}

/** `user-<n>@example.com`: accounts for load tests, created on first use. */
function loadUser(number: number): SandboxUser {
  return {
    ...PLAIN,
    ...identity(LOAD_LOGIN_BASE + number, `user-${number}@example.com`, `Load User ${number}`),
    group: STANDARD,
    balance: 20_000,
    positions: 5,
    orders: 1,
  };
}

function identity(login: number, email: string, name: string) {
  return { id: `usr_${login}`, login, email, name };
}
