import { isRow } from '../../gateway/wire/scalars.ts';
import type { CheckRun } from './check-run.ts';
import type { Account } from './sign-in.ts';

/** A session that op 10 has confirmed, and the claim by which it was found. */
export interface Session {
  readonly login: string;
  readonly loginClaim: string;
  readonly json: unknown;
}

export interface Group {
  readonly name: string;
  /** The claim that holds it, where one does. */
  readonly claim: string | null;
  /** Op 10 names it; else it is only what the token says. */
  readonly isConfirmed: boolean;
}

const OPERATION = 'getSession';
const MAX_CANDIDATES = 5;
/** By the interface 403; gateways also say that there is no such login. */
const OF_FOREIGN_LOGIN: ReadonlySet<number | null> = new Set([400, 403, 404, 422]);

/**
 * Calls op 10 with the login of the configured claim. Where the gateway refuses it, other claims are tried,
 * and the one that is accepted is the one to set.
 */
export async function readSession(run: CheckRun, account: Account): Promise<Session | null> {
  const { token, read } = account;
  const configured = run.config.gatewayLoginClaim;
  const own = read.loginIn(configured);
  if (own !== null) {
    const called = await run.call(OPERATION, 'read', { token, path: { login: own } });
    if (called.diagnosis.kind === 'answered') return sessionOf(run, own, configured, called.json);
    if (!OF_FOREIGN_LOGIN.has(called.status)) {
      run.answerOf(OPERATION, called);
      return null;
    }
  }
  const session = await searchSession(run, account, own);
  const setting = { operation: OPERATION, setting: 'GATEWAY_LOGIN_CLAIM' } as const;
  if (session !== null) {
    const { loginClaim } = session;
    run.settings.GATEWAY_LOGIN_CLAIM = loginClaim;
    const fault = own === null ? 'has no usable login' : 'names another login';
    const text = `The token ${fault} in the claim ${configured}: the claim ${loginClaim} holds the one that op 10 accepts.`;
    run.find('problem', text, setting);
    return session;
  }
  const names = read.claims.map(({ name, type }) => `${name} (${type})`).join(', ');
  const fault =
    own === null
      ? `The token has no usable login in the claim ${configured}`
      : `Op 10 refuses the login in the claim ${configured}`;
  const text = `${fault}, and none of its other claims holds one that op 10 accepts. Its claims: ${names}.`;
  run.find('problem', text, setting);
  return null;
}

async function searchSession(
  run: CheckRun,
  { token, read }: Account,
  own: string | null,
): Promise<Session | null> {
  const tried = new Set([own]);
  for (const claim of read.loginClaims(run.config.gatewayLoginClaim).slice(0, MAX_CANDIDATES)) {
    const login = read.loginIn(claim);
    if (login === null || tried.has(login)) continue;
    tried.add(login);
    const call = { token, path: { login } };
    const { diagnosis, json } = await run.call(OPERATION, 'find the login', call);
    if (diagnosis.kind === 'answered') return sessionOf(run, login, claim, json);
  }
  return null;
}

function sessionOf(run: CheckRun, login: string, loginClaim: string, json: unknown): Session {
  if (isRow(json) && json.login != null && String(json.login) !== login) {
    const text =
      'login: it is not the login that was asked for; the service refuses such an answer.';
    run.find('problem', text, { operation: OPERATION });
  }
  return { login, loginClaim, json };
}

/** The group as op 10 names it, or as the token does; null where neither does. */
export function judgeGroup(
  run: CheckRun,
  { read }: Account,
  session: Session | null,
): Group | null {
  const configured = run.config.gatewayGroupClaim;
  const claimed = read.textIn(configured);
  const group = isRow(session?.json) ? session.json.group : null;
  if (typeof group !== 'string' || group === '') {
    return claimed === null ? null : { name: claimed, claim: configured, isConfirmed: false };
  }
  if (claimed === group) return { name: group, claim: configured, isConfirmed: true };
  const setting = { setting: 'GATEWAY_GROUP_CLAIM' } as const;
  const [claim = null] = read.claimsOf(group);
  const fault = claimed === null ? 'has no group in' : 'names another group than op 10 in';
  if (claim === null) {
    const text = `The token ${fault} the claim ${configured}, and no claim holds the group of op 10: each user's first look at the catalog costs a call of op 10.`;
    run.find('warning', text, setting);
  } else {
    run.settings.GATEWAY_GROUP_CLAIM = claim;
    const text = `The token ${fault} the claim ${configured}: the claim ${claim} holds it.`;
    run.find('problem', text, setting);
  }
  return { name: group, claim, isConfirmed: true };
}
