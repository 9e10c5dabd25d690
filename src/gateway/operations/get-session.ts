import { type Login, textOf } from '../../lib/account.ts';
import { isObject } from '../../lib/json.ts';
import { read } from '../define-operation.ts';
import { timesOf } from '../exchange.ts';
import * as f from '../fields.ts';
import { digits, type Reading, type Row, text } from '../scalars.ts';
import { inSnapshot, ORDERS, POSITIONS } from './holdings.ts';

export const ACCESS = f.table('AccountAccess', {
  id: f.text,
  name: f.text,
  currency: f.text,
  currencyDigits: f.integer,
  isHedged: f.flag,
  noPl: f.flag,
});

/** A login, as a number or a string. Only isSnapshotOf judges it, by comparing it with the requested login. */
const login = { ...f.unneeded(f.numericId), wrong: 'nothing', read: loginIn } as const;

/** The gateway's interface requires no field: a missing field is null. A list is never shortened. */
export const SESSION = f.table('Session', {
  login,
  group: f.text,
  server: f.text,
  currency: f.text,
  balance: f.number,
  credit: f.number,
  equity: f.number,
  storage: f.number,
  assets: f.number,
  prevEquity: f.number,
  prevBalance: f.number,
  leverage: f.number,
  invested: f.from('Invested', f.number),
  profits: f.from('Profits', f.number),
  kycStatus: f.from('kyc_status', f.text),
  createdAt: f.time,
  access: f.object(ACCESS),
  positions: POSITIONS,
  orders: ORDERS,
});
const { names: NAMES } = SESSION;
type Snapshot = f.ValueOf<typeof SESSION.fields>;
export type WireSession = f.WireOf<typeof SESSION.fields>;

export type Session = Readonly<ReturnType<typeof sessionOf>>;
export type AccountAccess = NonNullable<Session['access']>;
export type SessionAnswer = Awaited<ReturnType<typeof getSession.run>>;

interface Asked {
  readonly login: Login;
  /** Called with the group once the snapshot is known to belong to this login, before its lists are read. */
  readonly onOwned: (group: string | null) => void;
}

export const getSession = read({
  name: 'getSession',
  number: 10,
  proves: 'login',
  errors: 'message',
  calls: { snapshot: { method: 'GET', path: '/trading/session/{login}', answer: SESSION.shape } },
  async run(calls, { login: claimed, onOwned }: Asked) {
    const login = textOf(claimed);
    const answer = await calls.send('snapshot', { path: { login } });
    const read = (body: unknown, reading: Reading) => {
      if (!isSnapshotOf(login, body)) return null;
      // An empty group counts as missing, as in a token.
      onOwned(text(body[NAMES.group]) || null);
      return SESSION.read(body, reading);
    };
    const snapshot = calls.value(answer, 'Session', read, JSON.parse);
    return { session: sessionOf(snapshot, login), ...timesOf(answer) };
  },
});

/**
 * Whether the answer is a snapshot of this login. A snapshot of another login shows another client's account. A body
 * without any account field, such as a proxy's 200 in maintenance, proves no token.
 */
export function isSnapshotOf(login: string, body: unknown): body is Row {
  if (!isObject(body)) return false;
  const named = body[NAMES.login] ?? null;
  if (named !== null) return loginIn(named) === login;
  const accountField = body[NAMES.balance] ?? body[NAMES.equity] ?? body[NAMES.group] ?? null;
  return accountField !== null;
}

function loginIn(value: unknown): string | null {
  return typeof value === 'string' ? value : digits(value);
}

export function sessionOf({ positions, ...snapshot }: Snapshot, login: string) {
  return { ...snapshot, login, positions: positions && inSnapshot(positions) };
}
