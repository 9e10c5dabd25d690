import { UnauthenticatedError } from '../../domain/auth/errors.ts';
import { createVerifier } from '../../domain/auth/verifier.ts';
import { OPERATIONS } from '../../gateway/operations.ts';
import type { CheckRun } from './check-run.ts';
import type { Credentials } from './credentials.ts';
import { type ReadToken, readToken } from './token.ts';

/** The account that the check uses. */
export interface Account {
  readonly token: string;
  readonly read: ReadToken;
}

/**
 * Runs op 12 without a token, which the gateway refuses with a 401. Returns false if the gateway does not answer: another
 * server must not get a password.
 */
export async function isReached(run: CheckRun): Promise<boolean> {
  const { getOpenPositions } = OPERATIONS;
  const operation = getOpenPositions.name;
  const called = await run.read(getOpenPositions, 'without a token', null, null);
  if (called.result !== null) {
    const text = 'It is answered without a token; the interface requires one.';
    run.addFinding('problem', text, { operation });
    return true;
  }
  const isRefused = called.status === 401 || called.status === 403;
  // For a 401 of a proxy that asks for a password, `fault` names another setting.
  if (isRefused && called.fault?.setting === 'CHECK_TOKEN') return true;
  run.resultOf(operation, called);
  return false;
}

/** Signs in, at most once, or takes the given token. Returns null if there is no usable token. */
export async function signIn(run: CheckRun, given: Credentials | string): Promise<Account | null> {
  if (typeof given === 'string') {
    run.addFinding('problem', `${given}.`);
    return null;
  }
  const token = given.kind === 'token' ? given.token : await grantedToken(run, given);
  if (token === null) return null;
  const read = readToken(token, run.nowMs());
  if (read === null) {
    const text = 'The token is not a readable JWT: the service needs the login in it.';
    run.addFinding('problem', text);
    return null;
  }
  if (read.isExpired) {
    const text = "The token has expired, or this machine's clock is ahead: the service refuses it.";
    run.addFinding('problem', text, { setting: 'CHECK_TOKEN' });
    return null;
  }
  await verifyToken(run, token);
  return { token, read };
}

async function grantedToken(
  run: CheckRun,
  { email, password }: Extract<Credentials, { kind: 'password' }>,
): Promise<string | null> {
  const operation = 'login';
  const called = await run.signIn(email, password);
  const signIn = run.resultOf(operation, called);
  if (signIn === null) return null;
  if (signIn.outcome === 'granted') return signIn.grant.accessToken;
  const text = `The sign-in is refused (status ${called.status}): is this user's password right, and may the user sign in?`;
  run.addFinding('problem', text, { operation, setting: 'CHECK_PASSWORD' });
  return null;
}

/** Adds a finding if the token does not verify. A service that has a key refuses such a token before any call. */
async function verifyToken(run: CheckRun, token: string): Promise<void> {
  const { jwtSecret, jwtIssuer, jwtAudience } = run.config;
  const verify = await createVerifier(run.config);
  const setting = jwtSecret === null ? 'JWT_JWKS_URL' : 'JWT_SECRET';
  try {
    if (verify === null || (await verify(token))) return;
    const text = 'The key set cannot be fetched, or lacks the key: the token is not verified.';
    run.addFinding('problem', text, { setting });
  } catch (error) {
    if (!(error instanceof UnauthenticatedError)) throw error;
    const checksMore = jwtIssuer !== null || jwtAudience !== null;
    const also = checksMore ? ', and JWT_ISSUER and JWT_AUDIENCE those of the gateway' : '';
    const text = `The token does not verify, so the service refuses every request: is the key the gateway's${also}?`;
    run.addFinding('problem', text, { setting });
  }
}
