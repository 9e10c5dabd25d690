import type { ReadName } from '../../gateway/operations.ts';
import { type AccountInput, accountRead } from './account-read.ts';
import type { CheckRun } from './check-run.ts';
import type { Account } from './sign-in.ts';
import { withBrokenSignature } from './token.ts';

/** Checks that the gateway verifies signatures, because the service takes its 200 as proof of a token. */
export async function tryForgedToken(
  run: CheckRun,
  { token }: Account,
  answered: readonly ReadName[],
  input: AccountInput,
): Promise<void> {
  const { jwtSecret, jwtJwksUrl } = run.config;
  // A key set does not help, because the service leaves a token that names an unknown key to the gateway.
  const level = jwtSecret === null ? 'problem' : 'warning';
  const hasKey = jwtSecret !== null || jwtJwksUrl !== null;
  const setting = hasKey ? {} : ({ setting: 'JWT_SECRET' } as const);
  const forged = withBrokenSignature(token);
  if (forged === null) {
    run.addFinding(level, 'The token has no signature, so anyone can write one.', setting);
    return;
  }
  for (const operation of answered) {
    const read = accountRead(operation);
    const { result } = await run.read(read, 'with a broken signature', forged, input);
    if (result === null) continue;
    if (operation === 'getAllTickers') {
      const text =
        'A token with a broken signature gets the catalog, as from a CDN. The service itself serves it to proved tokens only.';
      run.addFinding('note', text, { operation });
    } else {
      const text =
        "A token with a broken signature is accepted, so the gateway's 200 proves nothing: let the gateway verify signatures, or give the service the tokens' secret.";
      run.addFinding(level, text, { operation, ...setting });
    }
  }
}
