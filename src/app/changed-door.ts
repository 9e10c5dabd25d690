import { createHeaderForwarding } from '../../lib/forwarded-headers.ts';
import type { Config } from '../config.ts';
import { type Told, toldIn } from '../domain/account/told-changes.ts';
import { InputError } from '../domain/input-error.ts';

/** `POST /changed` of the operators' port: what a broker's own systems know has changed. */
export function changedDoor(
  { gatewayForwardHeaders }: Pick<Config, 'gatewayForwardHeaders'>,
  tell: (told: Told) => Promise<boolean>,
) {
  const { of } = createHeaderForwarding(gatewayForwardHeaders);

  /** A header that is none of the accounts' would name another account. */
  function forwarded(headers: Readonly<Record<string, unknown>>) {
    const given = Object.entries(headers).map(([name, value]) => {
      const isOne = gatewayForwardHeaders.includes(name.toLowerCase()) && typeof value === 'string';
      if (!isOne) throw new InputError(`headers.${name}`, 'must be one of GATEWAY_FORWARD_HEADERS');
      return [name.toLowerCase(), value] as const;
    });
    return of(Object.fromEntries(given));
  }

  return async (body: unknown) => {
    let told: Told;
    try {
      told = toldIn(body, forwarded);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      const { argument, message } = error;
      return { status: 400, body: { error: `${argument} ${message}`.trim() } };
    }
    if (await tell(told)) return { status: 202, body: { status: 'ok' } };
    return { status: 503, body: { error: 'Redis did not take it: tell it again' } };
  };
}
