import { UnauthenticatedError } from '../../domain/auth/errors.ts';
import { createVerifier } from '../../domain/auth/verifier.ts';
import { isRow } from '../../gateway/wire/scalars.ts';
import type { CheckRun } from './check-run.ts';
import type { Credentials } from './credentials.ts';
import type { Fault } from './diagnose.ts';
import type { ProbeName } from './probe.ts';
import { type ReadToken, readToken } from './token.ts';

/** The account that the check calls for. */
export interface Account {
  readonly token: string;
  readonly read: ReadToken;
}

const REACHED_BY = ['getOpenPositions', 'getCustomerId'] as const;

/**
 * Calls without a token: the gateway says 401, and whatever else may stand there says something else.
 * False where it is not the gateway, which then gets no password.
 */
export async function isReached(run: CheckRun): Promise<boolean> {
  const faults: Fault[] = [];
  for (const operation of REACHED_BY) {
    const { diagnosis, json } = await run.call(operation, 'reach', { token: null });
    if (diagnosis.kind === 'refused') {
      judgeWords(run, operation, json);
      return true;
    }
    if (diagnosis.kind === 'answered') {
      const text = 'It is answered without a token, where the interface asks for one.';
      run.find('problem', text, { operation });
      return true;
    }
    faults.push(diagnosis);
    if (diagnosis.kind === 'unreachable') break;
  }
  // Both fail alike, and one of them says why.
  const [first] = faults;
  if (first) run.findings.push(first.finding);
  return false;
}

/** A 401 counts whatever its body is; but its words are told to users. */
function judgeWords(run: CheckRun, operation: ProbeName, json: unknown): void {
  if (isRow(json) && (typeof json.error === 'string' || typeof json.message === 'string')) return;
  const text =
    'The body of a 401 has no `error` and no `message`: it counts, and users are told the words of this service.';
  run.find('note', text, { operation });
}

/** Signs in, at most once, or takes the token; null where there is none that can be called with. */
export async function signIn(run: CheckRun, given: Credentials | string): Promise<Account | null> {
  if (typeof given === 'string') {
    run.find('problem', `${given}.`);
    return null;
  }
  const token = given.kind === 'token' ? given.token : await grantedToken(run, given);
  if (token === null) return null;
  const read = readToken(token, run.nowMs());
  if (read === null) {
    const text =
      'The token is no JWT, or none that can be read: the service needs the login in it.';
    run.find('problem', text);
    return null;
  }
  if (read.isExpired) {
    const text = "The token has expired, or this machine's clock is ahead: the service refuses it.";
    run.find('problem', text, { setting: 'CHECK_TOKEN' });
    return null;
  }
  if (!read.expires) {
    run.find('note', 'The token does not say when it expires: the service learns it from a 401.');
  }
  judgeLife(run, read);
  await verifyToken(run, token);
  return { token, read };
}

/** A token cannot be renewed: its user signs in again. */
const MIN_TOKEN_SECONDS = 60;

function judgeLife(run: CheckRun, { livesSeconds }: ReadToken): void {
  if (livesSeconds === null) return;
  const { authProofSeconds } = run.config;
  const lives = `The token lives for ${livesSeconds} s`;
  if (livesSeconds < MIN_TOKEN_SECONDS) {
    run.find('problem', `${lives}: its user has to sign in again within the minute.`);
  } else if (livesSeconds < authProofSeconds) {
    const text = `${lives}, and its proof counts for ${authProofSeconds}: one that is withdrawn works to its end.`;
    run.find('warning', text, { setting: 'AUTH_PROOF_SECONDS' });
  }
}

async function grantedToken(
  run: CheckRun,
  { email, password }: Extract<Credentials, { kind: 'password' }>,
): Promise<string | null> {
  const operation = 'login';
  const { diagnosis, status, json } = await run.call(operation, 'sign in', {
    token: null,
    body: { email, password },
  });
  const grant = diagnosis.kind === 'answered' && isRow(json) ? json.access_token : null;
  if (typeof grant === 'string' && grant !== '') return grant;
  if (diagnosis.kind === 'answered') {
    // What the answer has in place of a token was told as its fields were compared.
    if (!(isRow(json) && typeof json.error === 'string')) return null;
  } else if (diagnosis.kind !== 'refused') {
    // A sign-in is refused with a status of the gateway's choice, and a body of its own.
    const isRefusal = isRow(json) && (status ?? 0) < 500;
    if (!isRefusal) {
      run.findings.push(diagnosis.finding);
      return null;
    }
  }
  const text = `The sign-in is refused (status ${status}): is this user's password right, and may the user sign in?`;
  run.find('problem', text, { operation, setting: 'CHECK_PASSWORD' });
  return null;
}

/** With a key of the service's own, a token that does not verify is refused before any call. */
async function verifyToken(run: CheckRun, token: string): Promise<void> {
  const { jwtSecret, jwtIssuer, jwtAudience } = run.config;
  const verify = await createVerifier(run.config);
  const setting = jwtSecret === null ? 'JWT_JWKS_URL' : 'JWT_SECRET';
  try {
    if (verify === null || (await verify(token))) return;
    const text = 'The key set cannot be fetched, or lacks the key: the token is not verified.';
    run.find('problem', text, { setting });
  } catch (error) {
    if (!(error instanceof UnauthenticatedError)) throw error;
    const hasMore = jwtIssuer !== null || jwtAudience !== null;
    const also = hasMore ? ', and JWT_ISSUER and JWT_AUDIENCE those of the gateway' : '';
    const text = `The token does not verify, so the service refuses every request: is the key the gateway's${also}?`;
    run.find('problem', text, { setting });
  }
}
