import { OPERATIONS } from '../../gateway/operations.ts';
import type { Login } from '../../lib/account.ts';
import { isObject } from '../../lib/is-object.ts';
import type { Called, CheckRun, Purpose } from './check-run.ts';
import type { Account } from './sign-in.ts';

/** The session that op 10 answered. */
export interface Session {
  readonly login: Login;
  readonly group: string | null;
  readonly symbols: readonly string[];
}

const OPERATION = 'getSession';
const MAX_CANDIDATES = 5;
/** The gateway's interface says 403 for another account's login; some gateways answer that there is no such login. */
const FOREIGN_LOGIN_STATUSES: ReadonlySet<number | null> = new Set([400, 403, 404, 422]);

/** Runs op 10 with the login of the configured claim. If that is refused, tries other claims. */
export async function readSession(run: CheckRun, account: Account): Promise<Session | null> {
  const { read } = account;
  const configured = run.config.gatewayLoginClaim;
  const configuredLogin = read.loginIn(configured);
  if (configuredLogin !== null) {
    const called = await callWith(run, account, configuredLogin, 'read');
    if (called.result !== null || !FOREIGN_LOGIN_STATUSES.has(called.status)) {
      return sessionOf(run, configuredLogin, called);
    }
  }
  const setting = { operation: OPERATION, setting: 'GATEWAY_LOGIN_CLAIM' } as const;
  const tried = new Set([configuredLogin]);
  for (const claim of read.loginClaims(configured).slice(0, MAX_CANDIDATES)) {
    const login = read.loginIn(claim);
    if (login === null || tried.has(login)) continue;
    tried.add(login);
    const called = await callWith(run, account, login, 'with another claim');
    if (called.result === null) continue;
    run.settings.GATEWAY_LOGIN_CLAIM = claim;
    const fault = configuredLogin === null ? 'has no usable login' : 'names another login';
    const text = `The token ${fault} in the claim ${configured}: the claim ${claim} holds the one that op 10 accepts.`;
    run.addFinding('problem', text, setting);
    return sessionOf(run, login, called);
  }
  const names = read.claims.map(({ name, type }) => `${name} (${type})`).join(', ');
  const fault =
    configuredLogin === null
      ? `The token has no usable login in the claim ${configured}`
      : `Op 10 refuses the login in the claim ${configured}`;
  const text = `${fault}, and none of its other claims holds one that op 10 accepts. Its claims: ${names}.`;
  run.addFinding('problem', text, setting);
  return null;
}

function callWith(run: CheckRun, { token }: Account, login: Login, purpose: Purpose) {
  return run.read(OPERATIONS.getSession, purpose, token, { login, onOwned() {} });
}

type SessionCall = Awaited<ReturnType<typeof callWith>>;

function sessionOf(run: CheckRun, login: Login, called: SessionCall): Session | null {
  if (isOfAnother(login, called)) {
    const text =
      'login: it is not the login that was asked for; the service refuses such an answer.';
    run.addFinding('problem', text, { operation: OPERATION });
    return null;
  }
  const result = run.resultOf(OPERATION, called);
  if (result === null) return null;
  const { group, positions, orders } = result.session;
  const rows = [...(positions?.rows ?? []), ...(orders ?? [])];
  return {
    login,
    group: group || null,
    symbols: rows.map(({ symbol }) => symbol),
  };
}

/** Whether the answer was refused because it names another login. */
function isOfAnother(login: Login, { json, result }: Called<unknown>): boolean {
  const answered = isObject(json) ? (json.login ?? null) : null;
  return result === null && answered !== null && String(answered) !== login;
}

/** The group that op 10 names, or that the token names; null if neither does. */
export function groupOf(run: CheckRun, { read }: Account, session: Session | null): string | null {
  const configured = run.config.gatewayGroupClaim;
  const claimed = read.textIn(configured);
  const group = session?.group ?? null;
  if (group === null || group === claimed) return claimed;
  const setting = { setting: 'GATEWAY_GROUP_CLAIM' } as const;
  const [claim] = read.claimsOf(group);
  const fault = claimed === null ? 'has no group in' : 'names another group than op 10 in';
  if (claim === undefined) {
    const text = `The token ${fault} the claim ${configured}, and no claim holds the group of op 10: each user's first read of the catalog costs a call of op 10.`;
    run.addFinding('warning', text, setting);
  } else {
    run.settings.GATEWAY_GROUP_CLAIM = claim;
    const text = `The token ${fault} the claim ${configured}: the claim ${claim} holds it.`;
    run.addFinding('problem', text, setting);
  }
  return group;
}
