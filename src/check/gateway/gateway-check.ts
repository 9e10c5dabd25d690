import { firstCallOf } from '../../gateway/operation.ts';
import { OPERATIONS, READ_NAMES, type ReadName } from '../../gateway/operations.ts';
import type { PathValues } from '../../gateway/request-templates.ts';
import { judgeAgreement } from './agreement.ts';
import { type CatalogHeaders, checkCatalog, symbolsIn } from './catalog.ts';
import { type CallReport, CheckRun, type CheckRunOptions } from './check-run.ts';
import { type Group, judgeGroup, readSession, type Session } from './claims.ts';
import type { TimeCounts } from './compare.ts';
import type { Credentials } from './credentials.ts';
import type { Finding, SuggestedSettings } from './finding.ts';
import { tryForgedToken } from './forged-token.ts';
import { type Account, isReached, signIn } from './sign-in.ts';
import { sumOfTimes, timeFindings } from './times.ts';
import type { ReadToken } from './token.ts';

export interface GatewayReport {
  readonly calls: readonly CallReport[];
  readonly findings: readonly Finding[];
  readonly settings: SuggestedSettings;
  readonly claims: ReadToken['claims'] | null;
  /** The claims whose values the gateway has accepted, or confirmed. */
  readonly claimsUsed: { readonly login: string | null; readonly group: string | null };
  readonly headers: CatalogHeaders | null;
  readonly times: TimeCounts | null;
  /** The operations that refuse a token with a broken signature; null where that was not tried. */
  readonly refusesForged: readonly ReadName[] | null;
}

export interface GatewayCheckOptions extends CheckRunOptions {
  /** Asked for once the gateway is known to be there: no password goes to whatever answers otherwise. */
  readonly credentials: () => Promise<Credentials | string>;
}

/** The reads beside op 10 that need no more than the token and the login in it. */
const READS_BY_TOKEN = READ_NAMES.filter(
  (name) => name !== 'getSession' && isReadByToken(firstCallOf(OPERATIONS[name]).path),
);

/** Whether `{login}` is all that has to be filled in. */
function isReadByToken(path: string): boolean {
  return !path.replaceAll('{login}', '').includes('{');
}

/** Null where the path needs a login that was not found. */
function pathOfRead(path: string, login: string | null): PathValues | null {
  if (!path.includes('{login}')) return {};
  return login === null ? null : { login };
}

/**
 * Goes through the operations of a gateway that change nothing, and compares what they answer with the
 * interface and with the configuration.
 */
export async function checkGateway(options: GatewayCheckOptions): Promise<GatewayReport> {
  const run = new CheckRun(options);
  const account = (await isReached(run)) ? await signIn(run, await options.credentials()) : null;
  const found = account === null ? null : await readAll(run, account);
  const times = sumOfTimes(run.calls);
  const { findings, unit } = timeFindings(times, run.config.gatewayTimeUnit);
  run.findings.push(...findings);
  if (unit !== null) run.settings.GATEWAY_TIME_UNIT = unit;
  return {
    calls: run.calls,
    findings: run.findings,
    settings: run.settings,
    claims: account?.read.claims ?? null,
    claimsUsed: { login: found?.session?.loginClaim ?? null, group: found?.group?.claim ?? null },
    headers: found?.headers ?? null,
    times,
    refusesForged: found?.refusesForged ?? null,
  };
}

interface Found {
  readonly session: Session | null;
  readonly group: Group | null;
  readonly headers: CatalogHeaders | null;
  readonly refusesForged: readonly ReadName[] | null;
}

async function readAll(run: CheckRun, account: Account): Promise<Found> {
  const answered = new Map<ReadName, PathValues>();
  const session = await readSession(run, account);
  if (session !== null) answered.set('getSession', { login: session.login });
  const group = judgeGroup(run, account, session);
  const symbols = new Set(symbolsIn(session?.json));
  for (const operation of READS_BY_TOKEN) {
    const path = pathOfRead(firstCallOf(OPERATIONS[operation]).path, session?.login ?? null);
    if (path === null) continue;
    const called = await run.call(operation, 'read', { token: account.token, path });
    if (run.answerOf(operation, called) === null) continue;
    answered.set(operation, path);
    if (operation === 'getOpenPositions') {
      for (const each of symbolsIn(called.json)) symbols.add(each);
      if (session !== null) await judgeAgreement(run, account, session, called.json);
    }
  }
  const headers = await checkCatalog(run, account, group, symbols);
  if (headers !== null && group !== null) answered.set('getAllTickers', { group: group.name });
  const refusesForged = await tryForgedToken(run, account, answered);
  return { session, group, headers, refusesForged };
}
