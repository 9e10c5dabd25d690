import type { ApolloLink } from '@apollo/client/link';
import type { Result } from '../core.ts';
import type { TradingGraphError } from '../errors.ts';
import { formattedError } from '../execution-result.ts';

/** The codes of errors that the client itself raises, because no whole answer arrived. Apollo calls them network errors. */
const OWN_CODES = new Set(['ABORTED', 'DISPOSED', 'NETWORK', 'PROTOCOL', 'SIGNED_OUT']);

/** Whether the client itself raised the error, not the server. */
export function isOwnError({ code }: TradingGraphError): boolean {
  return OWN_CODES.has(code);
}

/** An answer as Apollo's links give it. */
export function formattedResult({
  data,
  errors,
}: Result<Record<string, unknown>>): ApolloLink.Result {
  return errors.length === 0 ? { data } : { data, errors: errors.map(formattedError) };
}
