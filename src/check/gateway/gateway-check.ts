import { READ_NAMES, type ReadName } from '../../gateway/operations.ts';
import { type AccountInput, accountRead } from './account-read.ts';
import { checkCatalog } from './catalog.ts';
import { type CallReport, CheckRun, type CheckRunOptions } from './check-run.ts';
import { groupOf, readSession } from './claims.ts';
import type { Credentials } from './credentials.ts';
import type { Finding, SuggestedSettings } from './finding.ts';
import { tryForgedToken } from './forged-token.ts';
import { type Account, isReached, signIn } from './sign-in.ts';

export interface GatewayReport {
  readonly calls: readonly CallReport[];
  readonly findings: readonly Finding[];
  readonly settings: SuggestedSettings;
}

interface GatewayCheckOptions extends CheckRunOptions {
  /** If there are no credentials, a string that explains why. */
  readonly credentials: Credentials | string;
}

/** Runs the operations that change nothing, and compares their answers with the interface and the configuration. */
export async function checkGateway(options: GatewayCheckOptions): Promise<GatewayReport> {
  const run = new CheckRun(options);
  const account = (await isReached(run)) ? await signIn(run, options.credentials) : null;
  if (account !== null) await readAll(run, account);
  const { calls, findings, settings } = run;
  return { calls, findings, settings };
}

async function readAll(run: CheckRun, account: Account): Promise<void> {
  const { token } = account;
  const session = await readSession(run, account);
  const group = groupOf(run, account, session);
  const input: AccountInput = {
    login: session?.login ?? '',
    group: group ?? '',
    etag: null,
    onOwned() {},
  };
  const answered: ReadName[] = session === null ? [] : ['getSession'];
  for (const name of READ_NAMES) {
    if (name === 'getSession' || name === 'getAllTickers') continue;
    const called = await run.read(accountRead(name), 'read', token, input);
    if (!called.isSent) {
      run.addFinding('note', 'It is not checked, because it needs arguments.', { operation: name });
    } else if (run.resultOf(name, called) !== null) answered.push(name);
  }
  if (await checkCatalog(run, account, group, session?.symbols ?? []))
    answered.push('getAllTickers');
  await tryForgedToken(run, account, answered, input);
}
