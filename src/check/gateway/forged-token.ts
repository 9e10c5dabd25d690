import type { ReadName } from '../../gateway/operations.ts';
import type { PathValues } from '../../gateway/request-templates.ts';
import type { CheckRun } from './check-run.ts';
import type { Account } from './sign-in.ts';
import { withBrokenSignature } from './token.ts';

/**
 * The service takes the gateway's 200 as proof of a token, which holds only where signatures are checked.
 * Returns the operations that refuse a token with a broken one; null where that could not be tried.
 */
export async function tryForgedToken(
  run: CheckRun,
  { token }: Account,
  answered: ReadonlyMap<ReadName, PathValues>,
): Promise<readonly ReadName[] | null> {
  const { jwtSecret, jwtJwksUrl } = run.config;
  // A key set is no remedy: a token that names a key which it lacks is left to the gateway.
  const hasKey = jwtSecret !== null;
  const level = hasKey ? 'warning' : 'problem';
  const setting = hasKey || jwtJwksUrl !== null ? {} : ({ setting: 'JWT_SECRET' } as const);
  const forged = withBrokenSignature(token);
  if (forged === null) {
    run.find(level, 'The token has no signature, so anyone can write one.', setting);
    return null;
  }
  const refusing: ReadName[] = [];
  for (const [operation, path] of answered) {
    const { diagnosis } = await run.call(operation, 'forged token', { token: forged, path });
    if (diagnosis.kind === 'refused') refusing.push(operation);
    if (diagnosis.kind !== 'answered') continue;
    if (operation === 'getAllTickers') {
      const text =
        'A token with a broken signature gets the catalog, as from a CDN; the service opens it to proved tokens alone.';
      run.find('note', text, { operation });
    } else {
      const text =
        "A token with a broken signature is accepted, so the gateway's 200 proves nothing: let it check them, or give the service the tokens' secret.";
      run.find(level, text, { operation, ...setting });
    }
  }
  return refusing;
}
