import { isRow } from '../../gateway/wire/scalars.ts';
import type { CheckRun } from './check-run.ts';
import type { Session } from './login-claim.ts';
import type { Account } from './sign-in.ts';

export interface Group {
  readonly name: string;
  /** The claim that holds it, where one does. */
  readonly claim: string | null;
  /** Op 10 names it; else it is only what the token says. */
  readonly isConfirmed: boolean;
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
