import { type Claims, decodeClaims, readClaims } from '../domain/auth/claims.ts';
import { assertNotExpired } from '../domain/auth/identity.ts';
import { UnauthenticatedError, UnknownKeyError } from '../domain/auth/token-errors.ts';
import { createVerifier } from '../domain/auth/verifier.ts';
import { ageSeconds, lifeMsOf } from '../domain/catalog/group-catalog.ts';
import type { ReadOperation } from '../gateway/define-operation.ts';
import { INSTRUMENT, type ModifiedCatalog } from '../gateway/operations/get-all-tickers.ts';
import type { Session } from '../gateway/operations/get-session.ts';
import { OPERATIONS, READ_NAMES, type ReadName } from '../gateway/operations.ts';
import { type Login, textOf } from '../lib/account.ts';
import { type AccountInput, accountInput } from './account-input.ts';
import { type CheckedRead, CheckRun, type CheckRunOptions } from './check-run.ts';
import type { Credentials } from './credentials.ts';
import { faultOf } from './fault.ts';
import type { Finding } from './report.ts';

interface GatewayCheckOptions extends CheckRunOptions {
  /** If there are no credentials, a string that explains why. */
  readonly credentials: Credentials | string;
}

/** Runs the operations that change nothing, and compares their answers with the interface and the configuration. */
export async function checkGateway(options: GatewayCheckOptions): Promise<readonly Finding[]> {
  const run = new CheckRun(options);
  const token = (await isReached(run)) ? await tokenFor(run, options.credentials) : null;
  if (token !== null) await readAll(run, token);
  return run.findings;
}

/**
 * Runs op 12 without a token, which the gateway refuses with a 401. Returns false if the gateway does not answer: another
 * server must not get a password.
 */
async function isReached(run: CheckRun): Promise<boolean> {
  const { getOpenPositions } = OPERATIONS;
  const ended = await run.read(getOpenPositions, null, null, 'without a token');
  const about = { operation: getOpenPositions.name };
  if (ended.result !== null) {
    const text = 'It is answered without a token; the interface requires one.';
    run.find('problem', text, about);
    return true;
  }
  const fault = faultOf(ended);
  // For a 401 of a proxy that asks for a password, another setting is at fault.
  if (fault.setting === 'CHECK_TOKEN') return true;
  run.find('problem', fault.text, { ...fault, ...about });
  return false;
}

/** Signs in, at most once, or takes the given token. Returns null if there is no token. */
async function tokenFor(run: CheckRun, credentials: Credentials | string): Promise<string | null> {
  if (typeof credentials === 'string') {
    run.find('problem', `${credentials}.`);
    return null;
  }
  if (credentials.kind === 'token') return credentials.token;
  const ended = await run.signIn(credentials);
  const signIn = run.resultOf('login', ended);
  if (signIn === null) return null;
  if (signIn.outcome === 'granted') return signIn.grant.accessToken;
  const text = `The sign-in is refused (status ${ended.status}).`;
  run.find('problem', text, { operation: 'login', setting: 'CHECK_PASSWORD' });
  return null;
}

async function readAll(run: CheckRun, token: string): Promise<void> {
  const claims = claimsOf(run, token);
  if (claims === null) return;
  await verify(run, token);
  const session = claims.login && (await readSession(run, token, claims.login));
  const group = groupOf(run, token, claims.group, session);
  const input = accountInput({
    login: claims.login === null ? '' : textOf(claims.login),
    group: group ?? '',
  });
  const answered: ReadName[] = session === null ? [] : ['getSession'];
  for (const name of READ_NAMES) {
    if (name === 'getSession' || name === 'getAllTickers') continue;
    const ended = await run.read(accountRead(name), token, input);
    if (ended.recorded.length === 0) {
      run.find('warning', 'It is not checked, because it needs arguments.', { operation: name });
    } else if (run.resultOf(name, ended) !== null) answered.push(name);
  }
  if (group !== null) {
    const ended = await run.read(OPERATIONS.getAllTickers, token, { group, etag: null });
    const catalog = run.resultOf('getAllTickers', ended);
    // It is not tried with a forged token: the service serves it to proved tokens only, so a CDN may answer it to all.
    if (catalog?.modified) judgeCatalog(run, catalog, session);
  }
  await tryForgedToken(run, token, answered, input);
}

/** The claims as the service reads them; null if it refuses the token for another reason than its login. */
function claimsOf(
  run: CheckRun,
  token: string,
): (Pick<Claims, 'group'> & { login: Login | null }) | null {
  const { gatewayLoginClaim: login, gatewayGroupClaim: group } = run.config;
  try {
    const claims = readClaims(token, { login, group });
    assertNotExpired(claims, run.nowMs());
    return claims;
  } catch (error) {
    if (!(error instanceof UnauthenticatedError)) throw error;
    if (error.fault !== 'login') {
      const text = `The service refuses it: ${error.message}.`;
      run.find('problem', text, { setting: 'CHECK_TOKEN' });
      return null;
    }
    const text = `The claim ${login} holds no login. ${claimNames(token)}`;
    run.find('problem', text, { setting: 'GATEWAY_LOGIN_CLAIM' });
    return { login: null, group: null };
  }
}

/** Adds a finding if the token does not verify. A service that has a key refuses such a token before any call. */
async function verify(run: CheckRun, token: string): Promise<void> {
  using verifier = await createVerifier(run.config);
  const setting = run.config.jwtSecret === null ? 'JWT_JWKS_URL' : 'JWT_SECRET';
  try {
    if (verifier === null || (await verifier.verify(token))) return;
    run.find('problem', 'The key set cannot be read.', { setting });
  } catch (error) {
    if (error instanceof UnknownKeyError) {
      run.find('problem', 'The key set lacks the key of the token.', { setting });
      return;
    }
    if (!(error instanceof UnauthenticatedError)) throw error;
    const text = `The service refuses the token: ${error.message}. Are the key, JWT_ISSUER and JWT_AUDIENCE those of the gateway?`;
    run.find('problem', text, { setting });
  }
}

async function readSession(run: CheckRun, token: string, login: Login): Promise<Session | null> {
  const { getSession } = OPERATIONS;
  const ended = await run.read(getSession, token, { login, onOwned() {} });
  return run.resultOf('getSession', ended)?.session ?? null;
}

/** The group that op 10 names, or that the token names; null if neither does. */
function groupOf(
  run: CheckRun,
  token: string,
  claimed: string | null,
  session: Session | null,
): string | null {
  const group = session?.group || null;
  if (group === null || group === claimed) {
    if (claimed === null) {
      const text = 'Neither op 10 nor the token names a group, so the catalog is not checked.';
      run.find('problem', text, { operation: 'getAllTickers' });
    }
    return claimed;
  }
  const claim = run.config.gatewayGroupClaim;
  const text = `The claim ${claim} does not hold the group of op 10. ${claimNames(token, group)}`;
  run.find('problem', text, { setting: 'GATEWAY_GROUP_CLAIM' });
  return group;
}

function judgeCatalog(run: CheckRun, catalog: ModifiedCatalog, session: Session | null): void {
  const { headers, instruments, skipped, total } = catalog;
  const find = (level: Finding['level'], text: string, setting?: Finding['setting']) =>
    run.find(level, text, { operation: 'getAllTickers', setting });
  if (total === 0) find('problem', 'The catalog is empty.');
  if (skipped > 0) find('problem', `${skipped} of ${total} instruments are left out.`);
  const age = ageSeconds(headers.age);
  const limit = lifeMsOf(run.config.catalogMaxAgeSeconds * 1000, headers) / 1000;
  if (age !== null && age >= limit) {
    const text = `The catalog is ${age} s old when it arrives, and may be ${limit} s old: it is always marked stale.`;
    find('problem', text, 'CATALOG_MAX_AGE_SECONDS');
  }
  const ids = new Set(instruments.map(({ id }) => id));
  const held = [...(session?.positions?.rows ?? []), ...(session?.orders ?? [])];
  const unknown = held.filter(({ symbol }) => !ids.has(symbol)).length;
  if (unknown > 0) {
    const text = `${unknown} of ${held.length} symbols of positions and orders are not the ${INSTRUMENT.names.id} of an instrument: their \`instrument\` will be null.`;
    find('warning', text);
  }
}

/**
 * Checks that the gateway verifies signatures, because the service takes its 200 as proof of a token. With a secret it verifies
 * them itself. A key set does not help, because the service leaves a token that names an unknown key to the gateway.
 */
async function tryForgedToken(
  run: CheckRun,
  token: string,
  answered: readonly ReadName[],
  input: AccountInput,
): Promise<void> {
  if (run.config.jwtSecret !== null) return;
  const forged = withBrokenSignature(token);
  for (const operation of answered) {
    const ended = await run.read(accountRead(operation), forged, input, 'a broken signature');
    if (ended.result === null) continue;
    const text =
      "A token without a valid signature is accepted, so the gateway's 200 proves nothing.";
    run.find('problem', text, { operation, setting: 'JWT_SECRET' });
  }
}

/** A read that runs with an account's input. A read that needs more input throws, or makes a path that cannot be sent. */
function accountRead(name: ReadName): CheckedRead<AccountInput, unknown> {
  return OPERATIONS[name] as ReadOperation<never, unknown> as CheckedRead<AccountInput, unknown>;
}

/** The names of the token's claims, or of those that hold the value; never a value. */
function claimNames(token: string, value?: unknown): string {
  const claims = Object.entries(decodeClaims(token));
  const named = claims.filter(([, claim]) => value === undefined || claim === value);
  if (named.length === 0) return 'None of the claims does.';
  const lead = value === undefined ? 'The claims' : 'It is in';
  return `${lead}: ${named.map(([name, claim]) => `${name} (${typeof claim})`).join(', ')}.`;
}

/** The same claims with a wrong signature; an unsigned token unchanged. */
function withBrokenSignature(token: string): string {
  const [header, claims, signature = ''] = token.split('.');
  // Changes the first character, because the last one may hold unused bits.
  const first = signature.startsWith('A') ? 'B' : 'A';
  return signature === '' ? token : `${header}.${claims}.${first}${signature.slice(1)}`;
}
